import { HOLD_LEAD_MS, type CampaignSpec, type StepSpec, type WorldSpec } from './draw.ts';
import { dayOf, isOpenAt, isPreferred, local, matches, type Ledger, type Email } from './ledger.ts';
import { appTakes } from './app.ts';
import type { Outcome } from './run.ts';

const DAY = 86_400_000;
const MINUTE = 60_000;
const QUARTER = 15 * MINUTE;
/**
 * Maximum number of start positions in the list of mailboxes. With three mailboxes, all start positions in both
 * directions are all orders.
 */
const MOST_BEGINNINGS = 4;

/** Email for which a lead waits. */
interface Job {
  lead: number;
  campaign: number;
  /** Index of the step; 0 is the first email. */
  step: number;
  /** Time (epoch ms) from which the email is due. */
  from: number;
  /** Mailbox of the lead's conversation; null if any suitable mailbox may send. */
  mailbox: number | null;
}

/** Email with the slot that the oracle chose. */
type Placed = Pick<Email, 'at' | 'mailbox' | 'lead' | 'campaign' | 'step'>;

/**
 * Computes how many emails the world had capacity for, with a separate allocator that shares no code and no state with
 * the engine. It plays the world minute by minute, and a free mailbox gets the email with the fewest possible
 * mailboxes. It knows only events that have already happened. It obeys the campaigns' rules: the mailbox that has sent
 * least, matching providers, new leads before or after follow-ups. No rule defines the order of two campaigns, or of
 * two mailboxes with equally many emails; the capacity is the number that every order reaches.
 */
function couldHaveSent({ spec, ledger }: Pick<Outcome, 'spec' | 'ledger'>, order: Order): Placed[] {
  const course = new Course(spec, ledger, order);
  for (let at = Math.ceil(spec.from / MINUTE) * MINUTE; at < spec.until;) {
    const before = course.placed.length;
    course.pass(at);
    // Without a placed email, nothing changes before the next change of the world, so the time until then is skipped.
    at = course.placed.length > before ? at + MINUTE : course.nextChange(at);
  }
  return course.placed;
}

/** Order in which the oracle serves campaigns, mailboxes and leads. */
interface Order {
  campaigns: readonly number[];
  /**
   * If true, an email with fewer possible mailboxes comes first across all campaigns; otherwise only within its
   * campaign.
   */
  acrossCampaigns: boolean;
  /** Index at which the list of mailboxes begins, among mailboxes that have sent equally many emails. */
  fromMailbox: number;
  /** Reverses the order among mailboxes with equally many emails and leads with the same due time. */
  lastFirst: boolean;
}

/**
 * Returns the smallest number of emails over all orders of campaigns, and of mailboxes and leads that are otherwise
 * equal. It tries further orders only while there is time, and only if less than `share` of the first order's emails
 * were sent.
 */
export function roomOf(outcome: Outcome, share: number, isTimeLeft = (): boolean => true): number {
  let least = Infinity;
  for (const order of ordersOf(outcome.spec)) {
    least = Math.min(least, couldHaveSent(outcome, order).length);
    if (outcome.emails.length >= Math.floor(least * share) || !isTimeLeft()) break;
  }
  return least;
}

function* ordersOf({ mailboxes, campaigns }: WorldSpec): Generator<Order> {
  const listed = permutationsOf([...campaigns.keys()]);
  for (let fromMailbox = 0; fromMailbox < Math.min(mailboxes.length, MOST_BEGINNINGS); fromMailbox += 1)
    for (const lastFirst of [false, true])
      // Both are tried because campaigns do not share information. One campaign may use a mailbox that another one
      // needs more.
      for (const acrossCampaigns of [true, false])
        for (const order of listed) yield { campaigns: order, acrossCampaigns, fromMailbox, lastFirst };
}

function permutationsOf(list: readonly number[]): number[][] {
  if (list.length <= 1) return [[...list]];
  return list.flatMap((first) => permutationsOf(list.filter((one) => one !== first)).map((rest) => [first, ...rest]));
}

/**
 * Returns the end of a mailbox's pause. Emails refused during an outage are retried later, so the pause exceeds the
 * outage.
 */
function restsUntil(kind: string, until: number): number {
  return kind === 'outage' ? until + 64 * MINUTE : until;
}

class Course {
  readonly placed: Placed[] = [];
  readonly #spec: WorldSpec;
  readonly #ledger: Ledger;
  readonly #order: number[];
  readonly #acrossCampaigns: boolean;
  readonly #lastFirst: boolean;
  /** Position of each mailbox among those with equally many emails. */
  readonly #turns: number[];
  /** Next email of every lead, due now or later. */
  readonly #open = new Set<Job>();
  /** Time of each mailbox's last email. */
  readonly #last: number[];
  readonly #counts = new Map<string, number>();
  readonly #ramps = new Map<string, number>();
  /** Days on which each campaign sent emails. */
  readonly #sendingDays: Set<string>[];
  /** Times at which the world changes, ascending. */
  readonly #changes: number[];
  /** Times of holds, outages, wrong passwords and absent workers, by mailbox. */
  readonly #rests: { from: number; until: number }[][];
  /** Times at which a person puts each lead on hold. */
  readonly #held = new Map<number, number[]>();

  constructor(spec: WorldSpec, ledger: Ledger, { campaigns, acrossCampaigns, fromMailbox, lastFirst }: Order) {
    this.#spec = spec;
    this.#ledger = ledger;
    this.#sendingDays = spec.campaigns.map(() => new Set());
    this.#order = spec.campaigns.map((_, index) => campaigns.indexOf(index));
    this.#acrossCampaigns = acrossCampaigns;
    this.#lastFirst = lastFirst;
    this.#turns = spec.mailboxes.map(
      (_, index, { length }) => ((index + length - fromMailbox) % length) * (lastFirst ? -1 : 1),
    );
    this.#changes = [
      ...spec.happenings.flatMap((one) => [
        one.at,
        one.at + HOLD_LEAD_MS,
        ...('until' in one ? [restsUntil(one.kind, one.until)] : []),
      ]),
      ...spec.mailboxes.map(({ restsUntil: until }) => until ?? 0),
      ...ledger.changes(),
    ].sort((a, b) => a - b);
    this.#rests = spec.mailboxes.map((_, index) =>
      spec.happenings.flatMap((one) =>
        'until' in one && (one.kind === 'absence' || one.mailbox === index)
          ? [{ from: one.at, until: restsUntil(one.kind, one.until) }]
          : [],
      ),
    );
    for (const one of spec.happenings)
      if (one.kind === 'holdLead') this.#held.set(one.lead, [...(this.#held.get(one.lead) ?? []), one.at]);
    this.#last = spec.mailboxes.map(({ before }) => before.at(-1) ?? -Infinity);
    for (const [mailbox, { before }] of spec.mailboxes.entries())
      for (const at of before) this.#add(`${mailbox}/${Math.floor(at / DAY)}`);
    for (const [lead, { campaign, at }] of spec.leads.entries()) {
      const { entryDelayMinutes, begin } = spec.campaigns[campaign]!;
      const entered = at + entryDelayMinutes * MINUTE;
      this.#open.add({ lead, campaign, step: 0, from: this.#after(begin, lead, entered), mailbox: null });
    }
  }

  /**
   * Returns the next minute with a change: an email is due, a mailbox is free, the world changes, or a quarter of an
   * hour begins. Windows, hours and days of all zones begin at such quarters.
   */
  nextChange(at: number): number {
    let next = (Math.floor(at / QUARTER) + 1) * QUARTER;
    const consider = (moment: number): void => {
      if (moment > at && moment < next) next = moment;
    };
    for (const { from } of this.#open) consider(from);
    for (const mailbox of this.#last.keys()) consider(this.#freeAt(mailbox, at));
    for (const change of this.#changes) consider(change);
    return Math.max(at + MINUTE, Math.ceil(next / MINUTE) * MINUTE);
  }

  /** Plays one minute: each mailbox that is free sends suitable emails. */
  pass(at: number): void {
    const { mailboxes } = this.#spec;
    const utcDay = Math.floor(at / DAY);
    const usable = [...mailboxes.keys()].filter((mailbox) => this.#isFree(mailbox, at));
    if (usable.length === 0) return;
    const inForce = this.#spec.campaigns.map((_, campaign) => this.#ledger.rulesAt(campaign, at));
    const opened = inForce.map((rules, campaign) => isOpenAt(rules, at) && this.#ledger.isActive(campaign, at));
    if (!opened.includes(true)) return;
    const ready = [...this.#open].filter(
      ({ lead, campaign, from }) =>
        opened[campaign] &&
        from <= at &&
        this.#isThere(lead, at) &&
        isPreferred(inForce[campaign]!, at, this.#spec.leads[lead]!.timezone),
    );
    if (ready.length === 0) return;
    const kept = inForce.map((rules, campaign) =>
      rules.prioritizeNew ? 0 : this.#followUpsToday(campaign, rules, at),
    );
    for (const job of this.#sorted(ready, inForce, at)) {
      const rules = inForce[job.campaign]!;
      if (!this.#campaignHasRoom(job, rules, at, kept[job.campaign]!)) continue;
      // Applies the rules of preference and rotation: first a matching provider, then the mailbox that has sent least.
      const { provider } = this.#spec.leads[job.lead]!;
      const rank = (one: number): number =>
        (rules.espMatch === 'prefer' && provider !== '' && !matches(provider, mailboxes[one]!.provider) ? 1000 : 0) +
        this.#count(`${one}/${utcDay}`);
      const [mailbox] = usable
        .filter(
          (one) => this.#isFree(one, at) && this.#fits(job, one, rules, at) && this.#hasShare(job, one, rules, at),
        )
        .sort((a, b) => rank(a) - rank(b) || this.#turns[a]! - this.#turns[b]!);
      if (mailbox !== undefined) this.#place(job, mailbox, rules, at);
    }
  }

  #isFree(mailbox: number, at: number): boolean {
    const { state, cap } = this.#ledger.mailboxAt(mailbox, at);
    return (
      this.#freeAt(mailbox, at) <= at &&
      state === 'on' &&
      (this.#spec.mailboxes[mailbox]!.restsUntil ?? 0) <= at &&
      this.#count(`${mailbox}/${Math.floor(at / DAY)}`) < cap &&
      !this.#rests[mailbox]!.some((rest) => rest.from <= at && at < rest.until)
    );
  }

  /** Returns the end of a mailbox's gap, by the gap that applies at a time. */
  #freeAt(mailbox: number, at: number): number {
    return this.#last[mailbox]! + this.#ledger.mailboxAt(mailbox, at).gapSeconds * 1000;
  }

  /** Returns true if a lead has been added to the campaign, was not removed, and is not held by a person. */
  #isThere(lead: number, at: number): boolean {
    return (
      at < this.#ledger.leftAt(lead) &&
      !this.#ledger.isAway(lead, at) &&
      !this.#held.get(lead)?.some((from) => from <= at && at < from + HOLD_LEAD_MS)
    );
  }

  #fits(job: Job, mailbox: number, rules: CampaignSpec, at: number): boolean {
    if (!this.#ledger.isSender(job.campaign, mailbox, at)) return false;
    // A conversation moves to another mailbox only if its own mailbox is no longer a sender.
    if (job.mailbox !== null && this.#ledger.isSender(job.campaign, job.mailbox, at)) return job.mailbox === mailbox;
    const { provider } = this.#spec.leads[job.lead]!;
    return rules.espMatch !== 'strict' || matches(provider, this.#spec.mailboxes[mailbox]!.provider);
  }

  /**
   * Returns the emails in the order in which they are placed. Those with the fewest possible mailboxes come first, in
   * all campaigns or within each, with the campaigns in the given order; within a campaign its priority applies.
   */
  #sorted(ready: readonly Job[], inForce: readonly CampaignSpec[], at: number): Job[] {
    const chances = new Map<Job, number>();
    for (const job of ready) {
      const rules = inForce[job.campaign]!;
      const fitting = [...this.#spec.mailboxes.keys()].filter((mailbox) => this.#fits(job, mailbox, rules, at)).length;
      chances.set(job, fitting + (rules.hours ? 0 : 0.5));
    }
    const sorted = (this.#lastFirst ? ready.toReversed() : ready).toSorted((a, b) => {
      const choice = chances.get(a)! - chances.get(b)!;
      const turn = this.#order[a.campaign]! - this.#order[b.campaign]!;
      return this.#acrossCampaigns ? choice || turn : turn || choice;
    });
    for (const [campaign, { prioritizeNew }] of inForce.entries()) {
      if (!prioritizeNew) continue;
      const places = [...sorted.keys()].filter((place) => sorted[place]!.campaign === campaign);
      const own = places.map((place) => sorted[place]!).sort((a, b) => Number(a.step > 0) - Number(b.step > 0));
      for (const [n, place] of places.entries()) sorted[place] = own[n]!;
    }
    return sorted;
  }

  /**
   * Returns the number of a campaign's unsent follow-ups that are due today. New leads must not use their share of the
   * limit.
   */
  #followUpsToday(campaign: number, { timezone }: CampaignSpec, at: number): number {
    const midnight = at + (1440 - local(at, timezone).minute) * MINUTE;
    return [...this.#open].filter(
      (job) => job.campaign === campaign && job.step > 0 && job.from < midnight && this.#isThere(job.lead, at),
    ).length;
  }

  #campaignHasRoom({ campaign, step }: Job, rules: CampaignSpec, at: number, kept: number): boolean {
    const day = dayOf(rules, at);
    return (
      this.#count(`c${campaign}/${day}`) + (step > 0 ? 0 : kept) < rules.dailyLimit &&
      (step > 0 || rules.maxNewPerDay === 0 || this.#count(`new${campaign}/${day}`) < rules.maxNewPerDay)
    );
  }

  #hasShare({ campaign }: Job, mailbox: number, rules: CampaignSpec, at: number): boolean {
    const day = dayOf(rules, at);
    const { cap } = this.#ledger.mailboxAt(mailbox, at);
    const share = Math.min(cap, rules.dailyLimit, this.#rampOn(campaign, rules, at, day));
    return this.#count(`c${campaign}/${mailbox}/${day}`) < share;
  }

  /**
   * Returns the number of emails that the ramp allows a mailbox today. The number rises only after a day on which an
   * email could be sent. On other days, for example when every mailbox has reached its cap, it stays the same.
   */
  #rampOn(campaign: number, { ramp }: CampaignSpec, at: number, day: string): number {
    if (!ramp) return Infinity;
    const key = `${campaign}/${day}`;
    if (!this.#ramps.has(key)) this.#ramps.set(key, this.#ledger.rampAt(campaign, at));
    const before = [...this.#sendingDays[campaign]!].filter((other) => other !== day).length;
    return Math.min(this.#ramps.get(key)!, ramp.start + ramp.increment * before);
  }

  #place(job: Job, mailbox: number, rules: CampaignSpec, at: number): void {
    const { lead, campaign, step } = job;
    const day = dayOf(rules, at);
    this.placed.push({ at, mailbox, lead, campaign, step });
    this.#last[mailbox] = at;
    for (const key of [`${mailbox}/${Math.floor(at / DAY)}`, `c${campaign}/${day}`, `c${campaign}/${mailbox}/${day}`])
      this.#add(key);
    this.#sendingDays[campaign]!.add(day);
    if (step === 0) this.#add(`new${campaign}/${day}`);
    this.#open.delete(job);
    if (this.#spec.leads[lead]!.gone) return;
    const next = this.#nextOf(lead, rules, step, at);
    if (next) this.#open.add({ lead, campaign, ...next, mailbox });
  }

  /** Returns the email after one that is sent now, and its due time. */
  #nextOf(lead: number, rules: CampaignSpec, step: number, at: number): { step: number; from: number } | undefined {
    let from = at;
    for (let place = step; place < rules.steps.length; place += 1) {
      const next = rules.steps[place]!;
      from =
        next.kind === 'email'
          ? this.#ledger.dueAfter(this.#spec.leads[lead]!.campaign, place, from)
          : this.#after(next, lead, from);
      if (next.kind !== 'email') continue;
      return next.onlyIf && this.#ledger.reactedAt(lead, next.onlyIf) > from ? undefined : { step: place + 1, from };
    }
    return undefined;
  }

  /** Returns the time at which a lead finishes a step that is not an email. */
  #after(step: Exclude<StepSpec, { kind: 'email' }> | null, lead: number, at: number): number {
    switch (step?.kind) {
      case undefined:
        return at;
      case 'wait':
        return at + step.minutes * MINUTE;
      case 'app':
        return at + appTakes(step, this.#spec.leads[lead]!.app);
      case 'event': {
        const event = this.#spec.happenings.find((one) => one.kind === 'event' && one.lead === lead && one.at >= at);
        return Math.min(event?.at ?? Infinity, at + step.timeoutMinutes * MINUTE);
      }
    }
  }

  #count(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  #add(key: string): void {
    this.#counts.set(key, this.#count(key) + 1);
  }
}
