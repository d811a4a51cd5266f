import { DateTime } from 'luxon';
import type { Built } from './build.ts';
import type { CampaignSpec, Reaction, WorldSpec } from './draw.ts';

const DAY = 86_400_000;
const MINUTE = 60_000;
/** Maximum time (ms) after which a refused email is retried. */
const REFUSED_MS = 64 * MINUTE;

/** Tolerance (ms) by which an email may precede the end of its mailbox's gap. */
const GAP_TOLERANCE_MS = 5_000;

/** Email as the mail server received it. */
export interface Email {
  /** Time (epoch ms) of receipt. */
  at: number;
  /** Indexes of mailbox, lead and campaign in the world's lists. */
  mailbox: number;
  lead: number;
  campaign: number;
  step: number;
  to: string;
  messageId: string;
}

/** Violation of a rule. */
export interface Fault {
  at: number;
  rule: string;
  detail: string;
}

/** Properties of a mailbox that can change. */
export interface MailboxState {
  cap: number;
  gapSeconds: number;
  state: 'on' | 'off' | 'removed';
}

/** Value that applies from a time on (epoch ms). */
interface Change<T> {
  at: number;
  value: T;
}

/**
 * Ledger of everything that is visible from outside the engine. Checks every email against the rules of the world at
 * that time. Does not read the engine's tables, and computes times with luxon.
 */
export class Ledger {
  readonly emails: Email[] = [];
  readonly faults: Fault[] = [];
  readonly spec: WorldSpec;
  readonly built: Built;
  readonly #left = new Map<number, number>();
  readonly #rules: Change<CampaignSpec>[][];
  readonly #active: Change<boolean>[][];
  readonly #mailboxes: Change<MailboxState>[][];
  readonly #reactions = new Map<string, number>();
  readonly #away = new Map<number, { from: number; until: number }[]>();
  readonly #ramps = new Map<string, number>();

  constructor(spec: WorldSpec, built: Built) {
    this.spec = spec;
    this.built = built;
    this.#rules = spec.campaigns.map((value) => [{ at: spec.from, value }]);
    this.#active = spec.campaigns.map(() => [{ at: spec.from, value: true }]);
    this.#mailboxes = spec.mailboxes.map(({ cap, gapSeconds }) => [
      { at: spec.from, value: { cap, gapSeconds, state: 'on' } },
    ]);
  }

  /** Records the new rules of a campaign after an edit. */
  setRules(campaign: number, edit: Partial<CampaignSpec>, at: number): void {
    this.#rules[campaign]!.push({ at, value: { ...this.rulesAt(campaign, at), ...edit } });
  }

  rulesAt(campaign: number, at: number): CampaignSpec {
    return this.#rules[campaign]!.findLast((change) => change.at <= at)!.value;
  }

  /** Records an edit of a mailbox: a change, disabling, enabling or removal. */
  setMailbox(mailbox: number, edit: Partial<MailboxState>, at: number): void {
    this.#mailboxes[mailbox]!.push({ at, value: { ...this.mailboxAt(mailbox, at), ...edit } });
  }

  mailboxAt(mailbox: number, at: number): MailboxState {
    return this.#mailboxes[mailbox]!.findLast((change) => change.at <= at)!.value;
  }

  /** Returns all states of a mailbox so far. */
  statesOf(mailbox: number): MailboxState[] {
    return this.#mailboxes[mailbox]!.map(({ value }) => value);
  }

  /** Returns true if a mailbox is enabled and in the pool of a campaign. */
  isSender(campaign: number, mailbox: number, at: number): boolean {
    const { pool } = this.rulesAt(campaign, at);
    return this.mailboxAt(mailbox, at).state === 'on' && (pool === null || pool.includes(mailbox));
  }

  /**
   * Returns true if a mailbox was not a sender of a campaign at some time after `after` and up to `until`. Its
   * conversations may then move to another mailbox.
   */
  wasLost(campaign: number, mailbox: number, after: number, until: number): boolean {
    const moments = [...this.#rules[campaign]!, ...this.#mailboxes[mailbox]!].map(({ at }) => at);
    return moments.some((at) => at > after && at <= until && !this.isSender(campaign, mailbox, at));
  }

  /** Returns the times at which campaigns and mailboxes were edited, paused or resumed, and at which leads left. */
  changes(): number[] {
    const lists: Change<unknown>[][] = [...this.#rules, ...this.#active, ...this.#mailboxes];
    const away = [...this.#away.values()].flat().flatMap(({ from, until }) => [from, until]);
    return [...lists.flatMap((list) => list.map(({ at }) => at)), ...this.#left.values(), ...away];
  }

  /**
   * Returns true if, between two times, a campaign or a mailbox was edited, paused or resumed, or an outage or hold
   * began or ended.
   */
  changedBetween(from: number, until: number): boolean {
    const within = (at: number): boolean => at > from && at <= until;
    return (
      [...this.#rules, ...this.#active, ...this.#mailboxes].some((changes) => changes.some(({ at }) => within(at))) ||
      this.spec.happenings.some(({ at }) => within(at))
    );
  }

  /**
   * Returns true if a mailbox is on hold, its server is down or no worker runs, including the wait for the retry of a
   * refused email.
   */
  rests(mailbox: number, at: number): boolean {
    return (
      at < (this.spec.mailboxes[mailbox]!.restsUntil ?? 0) ||
      this.spec.happenings.some(
        (one) =>
          'until' in one &&
          (one.kind === 'absence' || one.mailbox === mailbox) &&
          one.at <= at &&
          at < one.until + REFUSED_MS,
      )
    );
  }

  /**
   * Returns the time at which a lead's next email is due if the lead finished the step before at `at`. Considers edits
   * of the campaign's days in between.
   */
  dueAfter(campaign: number, place: number, at: number): number {
    const dueBy = (rules: CampaignSpec): number => {
      const step = rules.steps[place]!;
      return at + (step.kind === 'email' ? step.waitDays : 0) * DAY;
    };
    let due = dueBy(this.rulesAt(campaign, at));
    for (const change of this.#rules[campaign]!)
      if (change.at > at && change.at < due) due = Math.max(change.at, dueBy(change.value));
    return due;
  }

  /**
   * Returns the time (epoch ms) at which a lead's first email is due; null if an event or an app call comes before it.
   */
  firstDue(lead: number): number | null {
    const { at, campaign } = this.spec.leads[lead]!;
    const rules = this.spec.campaigns[campaign]!;
    return rules.begin && rules.begin.kind !== 'wait' ? null : at + rules.entryDelayMinutes * MINUTE + firstWait(rules);
  }

  /**
   * Records a person's day of return. No email may be sent before the following working day begins in their time zone.
   */
  setAway(lead: number, at: number, returns: string): void {
    let day = DateTime.fromISO(returns, { zone: this.spec.leads[lead]!.timezone }).plus({ days: 1 });
    while (day.weekday > 5) day = day.plus({ days: 1 });
    this.#away.set(lead, [...(this.#away.get(lead) ?? []), { from: at, until: day.startOf('day').toMillis() }]);
  }

  isAway(lead: number, at: number): boolean {
    return (this.#away.get(lead) ?? []).some(({ from, until }) => at >= from && at < until);
  }

  /** Records a person's reaction to their latest email. */
  react(lead: number, what: Reaction, at: number): void {
    const key = `${lead}/${what}`;
    if (!this.#reactions.has(key)) this.#reactions.set(key, at);
  }

  /** Returns the time (epoch ms) of a person's first reaction of a kind; Infinity if there is none. */
  reactedAt(lead: number, what: Reaction): number {
    return this.#reactions.get(`${lead}/${what}`) ?? Infinity;
  }

  /** Returns true if a reply ends the campaign for a lead. */
  stopsOnReply(lead: number): boolean {
    const { steps } = this.spec.campaigns[this.spec.leads[lead]!.campaign]!;
    return !steps.some((step) => step.kind === 'email' && step.onlyIf === 'replied');
  }

  setActive(campaign: number, value: boolean, at: number): void {
    this.#active[campaign]!.push({ at, value });
  }

  leave(lead: number, at: number): void {
    if (!this.#left.has(lead)) this.#left.set(lead, at);
  }

  leftAt(lead: number): number {
    return this.#left.get(lead) ?? Infinity;
  }

  isActive(campaign: number, at: number): boolean {
    return this.#active[campaign]!.findLast((change) => change.at <= at)!.value;
  }

  fault(at: number, rule: string, detail: string): void {
    this.faults.push({ at, rule, detail });
  }

  /** Records an email that reached the server and checks it against every rule. Returns the index of its lead. */
  record(at: number, mailbox: number, to: string, raw: Buffer): number {
    const head = raw.toString('utf8').replace(/\r?\n[ \t]+/g, ' ');
    const header = (name: string): string => new RegExp(`^${name}: (.*)$`, 'mi').exec(head)?.[1]?.trim() ?? '';
    const lead = this.built.leads.findIndex((one) => one.email === to);
    const campaign = this.spec.leads[lead]!.campaign;
    const step = Number(/^Step (\d+) for/m.exec(raw.toString('utf8'))?.[1] ?? -1);
    const email: Email = { at, mailbox, lead, campaign, step, to, messageId: header('message-id') };
    this.#judge(email, header('in-reply-to'), header('references'), header('subject'));
    this.emails.push(email);
    return lead;
  }

  #judge(email: Email, inReplyTo: string, references: string, subject: string): void {
    const { at, mailbox, lead, campaign, step } = email;
    const rules = this.rulesAt(campaign, at);
    const sender = this.spec.mailboxes[mailbox]!;
    const person = this.spec.leads[lead]!;
    const broken = (rule: string, detail = ''): void =>
      this.fault(at, rule, `mailbox ${mailbox} lead ${lead} campaign ${campaign} step ${step} ${detail}`);

    if (!isOpenAt(rules, at)) broken('outside the window');
    if (!this.isActive(campaign, at)) broken('the campaign is paused');
    if (at > this.leftAt(lead)) broken('mailed after leaving');
    if (this.isAway(lead, at)) broken('mailed while away');
    if (!this.isSender(campaign, mailbox, at)) broken('a mailbox outside the pool, or switched off');
    if (this.emails.some((other) => other.lead === lead && other.step === step)) broken('twice');
    if (rules.espMatch === 'strict' && step === 0 && !matches(person.provider, sender.provider))
      broken('a provider that does not match');
    if (rules.hours && !isPreferred(rules, at, person.timezone)) broken('not a preferred hour');
    if (at < person.at + rules.entryDelayMinutes * MINUTE + firstWait(rules)) broken('before the entry delay');

    // Uses all caps that applied so far, because an email keeps its slot when a cap or limit is lowered.
    const states = this.#mailboxes[mailbox]!.map(({ value }) => value);
    const of = [...sender.before, ...this.emails.filter((other) => other.mailbox === mailbox).map((other) => other.at)];
    const utcDay = Math.floor(at / DAY);
    const cap = Math.max(...states.map((state) => state.cap));
    if (of.filter((other) => Math.floor(other / DAY) === utcDay).length >= cap) broken('mailbox cap');
    const last = of.at(-1);
    // A slot that was reserved before an absence, or under a shorter gap, may come before the end of the gap.
    const tolerance = this.spec.happenings.some(({ kind }) => kind === 'absence' || kind === 'gap')
      ? GAP_TOLERANCE_MS
      : 0;
    const gap = this.mailboxAt(mailbox, at).gapSeconds * 1000 - tolerance;
    if (last !== undefined && at - last < gap) broken('gap', `${at - last} ms`);
    if (at < (sender.restsUntil ?? 0)) broken('a mailbox that rests');

    const day = dayOf(rules, at);
    const today = this.emails.filter((other) => other.campaign === campaign && dayOf(rules, other.at) === day);
    const limit = Math.max(...this.#rules[campaign]!.map(({ value }) => value.dailyLimit));
    if (today.length >= limit) broken('daily limit');
    const given = today.filter((other) => other.mailbox === mailbox).length;
    if (given >= Math.min(limit, cap)) broken("the mailbox's share of the campaign");
    if (step === 0 && rules.maxNewPerDay > 0 && today.filter((other) => other.step === 0).length >= rules.maxNewPerDay)
      broken('new leads');
    if (rules.ramp && given >= this.rampAt(campaign, at)) broken('ramp');
    this.#judgeConversation(email, { inReplyTo, references, subject }, broken);
  }

  #judgeConversation(
    { at, mailbox, lead, campaign, step }: Email,
    { inReplyTo, references, subject }: Record<'inReplyTo' | 'references' | 'subject', string>,
    broken: (rule: string, detail?: string) => void,
  ): void {
    const earlier = this.emails.filter((other) => other.lead === lead);
    const before = earlier.at(-1);
    if (!before) {
      if (step > 0) broken('a later step first');
      return;
    }
    if (before.step >= step) broken('an earlier step later');
    const spec = this.rulesAt(campaign, at).steps[step - 1];
    const moved = before.mailbox !== mailbox;
    if (moved && !this.wasLost(campaign, before.mailbox, before.at, at))
      broken('another mailbox in the conversation', `was ${before.mailbox}`);
    if (spec?.kind !== 'email') return;
    if (spec.thread) {
      if (inReplyTo !== before.messageId) broken('In-Reply-To');
      if (!references.startsWith(this.#threadOf(campaign, at, earlier).messageId)) broken('References');
      if (!/^Re: (Hello|Again)$/.test(subject)) broken('Subject', subject);
    }
    const waits = this.#rules[campaign]!.map(({ value }) => value.steps[step - 1] as typeof spec);
    if (at < before.at + Math.min(...waits.map(({ waitDays }) => waitDays)) * DAY) broken('before its day');
    if (spec.onlyIf && this.reactedAt(lead, spec.onlyIf) > at) broken(`an email for who has ${spec.onlyIf} one`);
  }

  /** Returns the first email of the current thread in a conversation: the latest one that was not a reply. */
  #threadOf(campaign: number, at: number, earlier: readonly Email[]): Email {
    const { steps } = this.rulesAt(campaign, at);
    const beginning = earlier.findLast(({ step }) => {
      const spec = steps[step - 1];
      return spec?.kind !== 'email' || !spec.thread;
    });
    return beginning ?? earlier[0]!;
  }

  /**
   * Returns the number of emails that the ramp allows a mailbox on the day of a time. The level rises on every local
   * day with an open window of the campaign, from the first such day on.
   */
  rampAt(campaign: number, at: number): number {
    // The level is cached per quarter of an hour, because windows open and days begin only then.
    const key = `${campaign}/${Math.floor(at / (15 * MINUTE))}/${this.#rules[campaign]!.length}`;
    let level = this.#ramps.get(key);
    if (level === undefined) {
      level = this.#rampAt(campaign, at);
      this.#ramps.set(key, level);
    }
    return level;
  }

  #rampAt(campaign: number, at: number): number {
    const rules = this.rulesAt(campaign, at);
    const ramp = rules.ramp!;
    // The ramp starts when there is a lead to email.
    const due = this.spec.leads.flatMap((lead, index) =>
      lead.campaign === campaign ? [this.firstDue(index) ?? 0] : [],
    );
    const first = Math.max(this.spec.from, rules.startsAt ?? 0, Math.min(...due));
    const days = new Set<string>();
    for (let moment = first; moment <= at; moment += 15 * MINUTE)
      if (isOpenAt(this.rulesAt(campaign, moment), moment)) days.add(dayOf(rules, moment));
    days.add(dayOf(rules, at));
    return Math.min(ramp.ceiling || Infinity, ramp.start + ramp.increment * (days.size - 1));
  }
}

/** Cached offsets (minutes) of a zone per quarter of an hour, because offsets change only then. */
const offsets = new Map<string, Map<number, number>>();

/** Returns the local time in a zone, computed with luxon. */
export function local(at: number, zone: string): { hour: number; minute: number; weekday: number; day: string } {
  let known = offsets.get(zone);
  if (!known) offsets.set(zone, (known = new Map()));
  const quarter = Math.floor(at / (15 * MINUTE));
  let offset = known.get(quarter);
  if (offset === undefined) known.set(quarter, (offset = DateTime.fromMillis(at, { zone }).offset));
  const moved = at + offset * MINUTE;
  const days = Math.floor(moved / DAY);
  const minute = Math.floor((moved - days * DAY) / MINUTE);
  // 1 January 1970 was a Thursday.
  return { hour: Math.floor(minute / 60), minute, weekday: (days + 3) % 7, day: nameOfDay(days) };
}

const names = new Map<number, string>();

/** Converts the number of a day since 1 January 1970 to YYYY-MM-DD. */
function nameOfDay(days: number): string {
  let name = names.get(days);
  if (name === undefined) names.set(days, (name = new Date(days * DAY).toISOString().slice(0, 10)));
  return name;
}

export function dayOf({ timezone }: CampaignSpec, at: number): string {
  return local(at, timezone).day;
}

/** Returns true if a campaign's days, times and dates allow sending. */
export function isOpenAt(rules: CampaignSpec, at: number): boolean {
  if ((rules.startsAt !== null && at < rules.startsAt) || (rules.endsAt !== null && at >= rules.endsAt)) return false;
  const { minute, weekday } = local(at, rules.timezone);
  const has = (day: number): boolean => (rules.days & (1 << ((day + 7) % 7))) !== 0;
  return rules.windows.some(([from, to]) => {
    const [start, end] = [minutesOf(from), minutesOf(to)];
    if (start === end) return has(weekday);
    if (start < end) return has(weekday) && minute >= start && minute < end;
    return (has(weekday) && minute >= start) || (has(weekday - 1) && minute < end);
  });
}

/**
 * Returns true if send-time optimization allows an email: at a preferred hour of the recipient, and not on an excluded
 * weekend.
 */
export function isPreferred({ hours, weekends }: CampaignSpec, at: number, timezone: string): boolean {
  if (hours === null) return true;
  const { hour, weekday } = local(at, timezone);
  return hours.includes(hour) && (weekends || weekday < 5);
}

/**
 * Returns the wait (ms) of a lead before the first email, in addition to the entry delay. It is 0 for an event, which
 * can arrive at once.
 */
function firstWait({ begin }: CampaignSpec): number {
  return begin?.kind === 'wait' ? begin.minutes * MINUTE : 0;
}

/** Returns true if a mailbox may email an address of a provider family when providers must match. */
export function matches(provider: string, sender: string): boolean {
  return provider === '' || provider === (sender === 'smtp_imap' ? 'other' : sender);
}

function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}
