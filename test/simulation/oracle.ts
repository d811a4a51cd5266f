import { HOLD_LEAD_MS, type CampaignSpec, type StepSpec, type WorldSpec } from './draw.ts';
import { dayOf, isOpenAt, isPreferred, local, matches, type Ledger, type Letter } from './ledger.ts';
import { appTakes } from './app.ts';
import type { Outcome } from './run.ts';

const DAY = 86_400_000;
const MINUTE = 60_000;
const QUARTER = 15 * MINUTE;
/** Places at which the list of mailboxes begins, at most: beginnings and both directions are all orders of three. */
const MOST_BEGINNINGS = 4;

/** An email that a lead waits for. */
interface Job {
  lead: number;
  campaign: number;
  /** 0 is the first email. */
  step: number;
  /** Due from then on (epoch ms). */
  from: number;
  /** The mailbox of its conversation; null may come from any that fits. */
  mailbox: number | null;
}

/** An email as the oracle placed it. */
type Placed = Pick<Letter, 'at' | 'mailbox' | 'lead' | 'campaign' | 'step'>;

/**
 * How many emails the world had room for, by an allocator of its own that shares no code and no state with the engine: it goes
 * from minute to minute through its own course of the world, and a mailbox that is free gives the minute to the email
 * with the fewest mailboxes to choose from. It knows what has happened until then and nothing of what is to come. What
 * campaigns prescribe binds it too: the mailbox that has sent least, providers that match, new leads before or after
 * follow-ups. No rule says which of two campaigns comes first, nor which of two mailboxes that have sent equally much: there is only as
 * much room as every order finds.
 */
function couldHaveSent({ spec, ledger }: Pick<Outcome, 'spec' | 'ledger'>, order: Order): Placed[] {
  const course = new Course(spec, ledger, order);
  for (let at = Math.ceil(spec.from / MINUTE) * MINUTE; at < spec.until;) {
    const before = course.placed.length;
    course.pass(at);
    // While nothing happens, nothing can be placed either.
    at = course.placed.length > before ? at + MINUTE : course.nextChange(at);
  }
  return course.placed;
}

/** Which campaign is asked first for an email. */
interface Order {
  campaigns: readonly number[];
  /** An email with fewer mailboxes to choose from comes before one with more, whatever their campaigns; else only within a campaign. */
  acrossCampaigns: boolean;
  /** Where the world's list of mailboxes begins when several have sent equally much. */
  fromMailbox: number;
  /** Of mailboxes that have sent equally much, and of leads that are due alike, the last in the lists comes first. */
  lastFirst: boolean;
}

/**
 * As many emails as the order sends that sends least: of campaigns, and of mailboxes and leads that are alike. Orders beyond the first
 * are tried only where less than a share of its emails was sent, as they decide nothing elsewhere, and while there is time.
 */
export function roomOf(outcome: Outcome, share: number, isTimeLeft = (): boolean => true): number {
  let least = Infinity;
  for (const order of ordersOf(outcome.spec)) {
    least = Math.min(least, couldHaveSent(outcome, order).length);
    if (outcome.letters.length >= Math.floor(least * share) || !isTimeLeft()) break;
  }
  return least;
}

function* ordersOf({ mailboxes, campaigns }: WorldSpec): Generator<Order> {
  const listed = permutationsOf([...campaigns.keys()]);
  for (let fromMailbox = 0; fromMailbox < Math.min(mailboxes.length, MOST_BEGINNINGS); fromMailbox += 1)
    for (const lastFirst of [false, true])
      // Campaigns know nothing of each other: one may take a mailbox of three that another has only two of.
      for (const acrossCampaigns of [true, false])
        for (const order of listed) yield { campaigns: order, acrossCampaigns, fromMailbox, lastFirst };
}

function permutationsOf(list: readonly number[]): number[][] {
  if (list.length <= 1) return [[...list]];
  return list.flatMap((first) => permutationsOf(list.filter((one) => one !== first)).map((rest) => [first, ...rest]));
}

/** Emails that failed to leave are tried again later: a minute's outage costs a few. */
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
  /** By mailbox, its turn among those that have sent equally much. */
  readonly #turns: number[];
  /** Emails that are due, or will be; the next of every lead only. */
  readonly #open = new Set<Job>();
  readonly #free: number[];
  readonly #counts = new Map<string, number>();
  readonly #ramps = new Map<string, number>();
  /** By campaign, the days on which emails of it have left. */
  readonly #sendingDays: Set<string>[];
  /** Moments at which the world changes, ascending. */
  readonly #changes: number[];
  /** By mailbox, when holds, outages and wrong passwords keep it from sending. */
  readonly #rests: { from: number; until: number }[][];
  /** By lead, when a person holds it. */
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
        'until' in one && one.mailbox === index ? [{ from: one.at, until: restsUntil(one.kind, one.until) }] : [],
      ),
    );
    for (const one of spec.happenings)
      if (one.kind === 'holdLead') this.#held.set(one.lead, [...(this.#held.get(one.lead) ?? []), one.at]);
    this.#free = spec.mailboxes.map(({ before, gapSeconds }) => (before.at(-1) ?? -Infinity) + gapSeconds * 1000);
    for (const [mailbox, { before }] of spec.mailboxes.entries())
      for (const at of before) this.#add(`${mailbox}/${Math.floor(at / DAY)}`);
    for (const [lead, { campaign, at }] of spec.leads.entries()) {
      const { entryDelayMinutes, begin } = spec.campaigns[campaign]!;
      const entered = at + entryDelayMinutes * MINUTE;
      this.#open.add({ lead, campaign, step: 0, from: this.#after(begin, lead, entered), mailbox: null });
    }
  }

  /**
   * The first minute after one at which something is different: an email falls due, a mailbox is free, the world changes, or
   * a quarter of an hour begins (windows, hours and days of all zones do so then).
   */
  nextChange(at: number): number {
    let next = (Math.floor(at / QUARTER) + 1) * QUARTER;
    const consider = (moment: number): void => {
      if (moment > at && moment < next) next = moment;
    };
    for (const { from } of this.#open) consider(from);
    for (const free of this.#free) consider(free);
    for (const change of this.#changes) consider(change);
    return Math.max(at + MINUTE, Math.ceil(next / MINUTE) * MINUTE);
  }

  /** One minute: every mailbox that can gives emails as long as it is free. */
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
      // Preference and rotation are rules as well: a provider that matches, then the mailbox that has sent least.
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
      this.#free[mailbox]! <= at &&
      state === 'on' &&
      (this.#spec.mailboxes[mailbox]!.restsUntil ?? 0) <= at &&
      this.#count(`${mailbox}/${Math.floor(at / DAY)}`) < cap &&
      !this.#rests[mailbox]!.some((rest) => rest.from <= at && at < rest.until)
    );
  }

  /** Whether a lead is in the campaign, there, and not held by hand. */
  #isThere(lead: number, at: number): boolean {
    return (
      at < this.#ledger.leftAt(lead) &&
      !this.#ledger.isAway(lead, at) &&
      !this.#held.get(lead)?.some((from) => from <= at && at < from + HOLD_LEAD_MS)
    );
  }

  #fits(job: Job, mailbox: number, rules: CampaignSpec, at: number): boolean {
    if (!this.#ledger.isSender(job.campaign, mailbox, at)) return false;
    // A conversation goes on from another mailbox only when its own is no sender any more.
    if (job.mailbox !== null && this.#ledger.isSender(job.campaign, job.mailbox, at)) return job.mailbox === mailbox;
    const { provider } = this.#spec.leads[job.lead]!;
    return rules.espMatch !== 'strict' || matches(provider, this.#spec.mailboxes[mailbox]!.provider);
  }

  /** Who can choose least comes first, over all campaigns or within each, and campaigns in the given order; there by the campaign's priority. */
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

  /** Follow-ups of a campaign that are due today and have not left; new leads leave them their share of the limit. */
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
   * What the ramp allows a mailbox today. It need not rise on a day on which nothing could leave, as with every mailbox at
   * its cap: who would then send more the day after has sent nothing that warmed anything.
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
    this.#free[mailbox] = at + this.#ledger.mailboxAt(mailbox, at).gapSeconds * 1000;
    for (const key of [`${mailbox}/${Math.floor(at / DAY)}`, `c${campaign}/${day}`, `c${campaign}/${mailbox}/${day}`])
      this.#add(key);
    this.#sendingDays[campaign]!.add(day);
    if (step === 0) this.#add(`new${campaign}/${day}`);
    this.#open.delete(job);
    if (this.#spec.leads[lead]!.gone) return;
    const next = this.#nextOf(lead, rules, step, at);
    if (next) this.#open.add({ lead, campaign, ...next, mailbox });
  }

  /** The email after one that leaves now, and when it falls due. */
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

  /** When a lead that comes to a step is through with what it waits for there. */
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
