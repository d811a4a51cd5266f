import { DateTime } from 'luxon';
import type { RawDb } from '../harness/database.ts';
import type { Built } from './build.ts';
import type { CampaignSpec, WorldSpec } from './draw.ts';

const DAY = 86_400_000;
const MINUTE = 60_000;

/** One email as the mail server got it. */
export interface Letter {
  /** Epoch ms. */
  at: number;
  /** Places in the world's lists. */
  mailbox: number;
  lead: number;
  campaign: number;
  step: number;
  to: string;
  messageId: string;
}

/** A rule that was broken. */
export interface Fault {
  at: number;
  rule: string;
  detail: string;
}

/** A stretch of time for which a value holds, from its moment (epoch ms) on. */
interface Change<T> {
  at: number;
  value: T;
}

/**
 * What the outside world sees of a simulation: every letter, held against the rules of the world as they were at that
 * moment. It knows nothing of the engine's tables; its clock arithmetic is luxon's.
 */
export class Ledger {
  readonly letters: Letter[] = [];
  readonly faults: Fault[] = [];
  readonly spec: WorldSpec;
  readonly built: Built;
  readonly #left = new Map<number, number>();
  readonly #limits: Change<number>[][];
  readonly #active: Change<boolean>[][];
  readonly #rampDays: string[][];

  constructor(spec: WorldSpec, built: Built) {
    this.spec = spec;
    this.built = built;
    this.#limits = spec.campaigns.map(({ dailyLimit }) => [{ at: spec.from, value: dailyLimit }]);
    this.#active = spec.campaigns.map(() => [{ at: spec.from, value: true }]);
    this.#rampDays = spec.campaigns.map(() => []);
  }

  setLimit(campaign: number, value: number, at: number): void {
    this.#limits[campaign]!.push({ at, value });
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

  limitAt(campaign: number, at: number): number {
    return this.#limits[campaign]!.findLast((change) => change.at <= at)!.value;
  }

  isActive(campaign: number, at: number): boolean {
    return this.#active[campaign]!.findLast((change) => change.at <= at)!.value;
  }

  fault(at: number, rule: string, detail: string): void {
    this.faults.push({ at, rule, detail });
  }

  /** A letter reached the server: every rule is looked at. */
  record(at: number, mailbox: number, to: string, raw: Buffer): void {
    const head = raw.toString('utf8').replace(/\r?\n[ \t]+/g, ' ');
    const header = (name: string): string => new RegExp(`^${name}: (.*)$`, 'mi').exec(head)?.[1]?.trim() ?? '';
    const lead = this.built.leads.findIndex(({ email }) => email === to);
    const campaign = this.spec.leads[lead]!.campaign;
    const step = Number(/^Step (\d+) for/m.exec(raw.toString('utf8'))?.[1] ?? -1);
    const letter: Letter = { at, mailbox, lead, campaign, step, to, messageId: header('message-id') };
    this.#judge(letter, header('in-reply-to'), header('references'), header('subject'));
    this.letters.push(letter);
  }

  #judge(letter: Letter, inReplyTo: string, references: string, subject: string): void {
    const { at, mailbox, lead, campaign, step } = letter;
    const rules = this.spec.campaigns[campaign]!;
    const sender = this.spec.mailboxes[mailbox]!;
    const broken = (rule: string, detail = ''): void =>
      this.fault(at, rule, `mailbox ${mailbox} lead ${lead} campaign ${campaign} step ${step} ${detail}`);

    if (!isOpenAt(rules, at)) broken('outside the window');
    if (!this.isActive(campaign, at)) broken('the campaign is paused');
    if (at > this.leftAt(lead)) broken('mailed after leaving');
    if (rules.pool && !rules.pool.includes(mailbox)) broken('a mailbox outside the pool');
    if (this.letters.some((other) => other.lead === lead && other.step === step)) broken('twice');
    if (rules.espMatch === 'strict' && step === 0 && !matches(this.spec.leads[lead]!.provider, sender.provider))
      broken('a provider that does not match');
    if (rules.hours && !rules.hours.includes(local(at, this.spec.leads[lead]!.timezone).hour))
      broken('not a preferred hour');
    if (at < this.spec.leads[lead]!.at + rules.entryDelayMinutes * MINUTE) broken('before the entry delay');

    const of = this.letters.filter((other) => other.mailbox === mailbox);
    const utcDay = Math.floor(at / DAY);
    if (of.filter((other) => Math.floor(other.at / DAY) === utcDay).length >= sender.cap) broken('mailbox cap');
    const last = of.at(-1);
    if (last && at - last.at < sender.gapSeconds * 1000) broken('gap', `${at - last.at} ms`);

    const day = dayOf(rules, at);
    const today = this.letters.filter((other) => other.campaign === campaign && dayOf(rules, other.at) === day);
    // A limit that is lowered does not take back what has its slot.
    const limit = Math.max(...this.#limits[campaign]!.map(({ value }) => value));
    if (today.length >= limit) broken('daily limit');
    if (step === 0 && rules.maxNewPerDay > 0 && today.filter((other) => other.step === 0).length >= rules.maxNewPerDay)
      broken('new leads');
    if (rules.ramp) {
      const days = this.#rampDays[campaign]!;
      if (!days.includes(day)) days.push(day);
      if (today.filter((other) => other.mailbox === mailbox).length >= this.rampAt(campaign, at)) broken('ramp');
    }

    const earlier = this.letters.filter((other) => other.lead === lead);
    const before = earlier.at(-1);
    if (before) {
      const spec = rules.steps[step - 1];
      if (before.mailbox !== mailbox) broken('another mailbox in the conversation', `was ${before.mailbox}`);
      if (spec?.kind === 'email' && spec.thread) {
        if (inReplyTo !== before.messageId) broken('In-Reply-To');
        if (!references.startsWith(earlier[0]!.messageId)) broken('References');
        if (!/^Re: Hello$/.test(subject)) broken('Subject', subject);
      }
      if (spec?.kind === 'email' && at < before.at + spec.waitDays * DAY) broken('before its day');
    } else if (step > 0) broken('a later step first');
  }

  /**
   * What the ramp allows a mailbox on the day of a moment: it rises with every local day on which the campaign's window
   * opens, from its first.
   */
  rampAt(campaign: number, at: number): number {
    const rules = this.spec.campaigns[campaign]!;
    const ramp = rules.ramp!;
    const first = Math.max(this.spec.from, rules.startsAt ?? 0);
    const days = new Set<string>();
    for (let moment = first; moment <= at; moment += 15 * MINUTE)
      if (isOpenAt(rules, moment)) days.add(dayOf(rules, moment));
    days.add(dayOf(rules, at));
    return Math.min(ramp.ceiling, ramp.start + ramp.increment * (days.size - 1));
  }
}

const clocks = new Map<string, { from: number; offset: number }>();

/** The wall clock of a zone, by luxon; offsets are kept for the quarter of an hour. */
export function local(at: number, zone: string): { hour: number; minute: number; weekday: number; day: string } {
  const quarter = Math.floor(at / (15 * MINUTE));
  let known = clocks.get(zone);
  if (known?.from !== quarter) {
    known = { from: quarter, offset: DateTime.fromMillis(at, { zone }).offset };
    clocks.set(zone, known);
  }
  const moved = new Date(at + known.offset * MINUTE);
  return {
    hour: moved.getUTCHours(),
    minute: moved.getUTCHours() * 60 + moved.getUTCMinutes(),
    weekday: (moved.getUTCDay() + 6) % 7,
    day: moved.toISOString().slice(0, 10),
  };
}

export function dayOf({ timezone }: CampaignSpec, at: number): string {
  return local(at, timezone).day;
}

/** Whether a campaign's days, times and dates let mail out. */
export function isOpenAt(rules: CampaignSpec, at: number): boolean {
  if ((rules.startsAt !== null && at < rules.startsAt) || (rules.endsAt !== null && at >= rules.endsAt)) return false;
  const { minute, weekday } = local(at, rules.timezone);
  const has = (day: number): boolean => (rules.days & (1 << ((day + 7) % 7))) !== 0;
  const start = minutesOf(rules.start);
  const end = minutesOf(rules.end);
  if (start === end) return has(weekday);
  if (start < end) return has(weekday) && minute >= start && minute < end;
  return (has(weekday) && minute >= start) || (has(weekday - 1) && minute < end);
}

/** Whether an address of a provider family may be written to from a mailbox, where they must match. */
export function matches(provider: string, sender: string): boolean {
  return provider === '' || provider === (sender === 'smtp_imap' ? 'other' : sender);
}

function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}

/** What must hold of the rows at any time: every lead in one state, and every lead that waits has a next moment. */
export async function checkHour(db: RawDb, ledger: Ledger, wakes: ReadonlyMap<string, number | null>): Promise<void> {
  const { rows } = (await db.raw(
    `select e.id, e.contact_id, e.state, e.waiting_for, e.waiting_until, e.blocked, e.hold_since, e.hold_until, e.failure_reason, e.campaign_id,
       c.status, exists (select 1 from waits w where w.enrollment_id = e.id and w.state = 'open') as waits,
       exists (select 1 from sends s where s.enrollment_id = e.id and s.state in ('reserved', 'sending')) as slot
     from enrollments e join campaigns c on c.id = e.campaign_id where e.organization_id = ?`,
    [ledger.built.organizationId],
  )) as { rows: Record<string, any>[] };
  const at = Math.max(0, ...[...wakes.values()].map((wake) => wake ?? 0));
  for (const row of rows) {
    const fault = (rule: string): void => ledger.fault(at, rule, JSON.stringify(row));
    const launcher = `campaign/${row.campaign_id}`;
    const run = `enrollment/${row.campaign_id}/${row.contact_id}`;
    if (row.state === 'active') {
      if (!wakes.has(run)) fault('an active lead without a run');
      else if (
        wakes.get(run) === null &&
        row.status === 'active' &&
        !row.blocked &&
        !row.waits &&
        !row.slot &&
        !row.hold_since
      )
        fault('an active lead that waits for nothing');
      if (!row.waiting_for && !row.waiting_until) fault('an active lead without a reason');
    } else if (row.state === 'pending') {
      if (row.status === 'active' && !wakes.has(launcher)) fault('a waiting lead without a launcher');
      else if (row.status === 'active' && wakes.get(launcher) === null && !row.hold_since)
        fault('a waiting lead whose launcher sleeps for ever');
      if (row.slot) fault('a waiting lead with a slot');
    } else {
      if (row.slot) fault('a finished lead with a slot');
      if (wakes.get(run) === null && wakes.has(run)) fault('a finished lead whose run sleeps for ever');
      if (row.state !== 'completed' && !row.failure_reason) fault('a finished lead without a reason');
    }
  }
  const { rows: counters } = (await db.raw(
    `select d.scope, d.scope_id, d.day, d.count, s.n from (
       select 'mailbox' as scope, mailbox_id as scope_id, (slot_at at time zone 'utc')::date as day, count(*)::int as n
       from sends where organization_id = :org group by 1, 2, 3
       union all select 'campaign', campaign_id, slot_day, count(*)::int from sends where organization_id = :org group by 1, 2, 3) s
     full join (select * from daily_counters where organization_id = :org and scope in ('mailbox', 'campaign')) d
       on d.scope = s.scope and d.scope_id = s.scope_id and d.day = s.day
     where coalesce(d.count, 0) <> coalesce(s.n, 0)`,
    { org: ledger.built.organizationId },
  )) as { rows: object[] };
  for (const row of counters) ledger.fault(at, 'a counter that is off', JSON.stringify(row));
}
