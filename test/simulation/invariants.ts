import { listLeads, LEAD_STATUSES } from '../../domain/sending/leads/list.ts';
import { runStatement } from '../../db/statement.ts';
import type { Ctx } from '../../domain/platform/kernel/context.ts';
import type { RawDb } from '../harness/database.ts';
import { dayOf, isOpenAt, isPreferred, matches, type Ledger } from './ledger.ts';

const DAY = 86_400_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Maximum time (ms) for which a lead may be due while a suitable mailbox is idle. */
const STARVED_MS = 90 * MINUTE;

/** Checks that the API shows every lead in one state, with the cause of its wait or end. */
export async function checkLeads(ctx: Ctx, ledger: Ledger): Promise<void> {
  for (const { id } of ledger.built.campaigns) {
    const { rows } = await listLeads(ctx, id, {}, { limit: 10_000, cursor: undefined });
    for (const lead of rows) {
      const fault = (rule: string): void => ledger.fault(ctx.clock.now().getTime(), rule, JSON.stringify(lead));
      if (!LEAD_STATUSES.includes(lead.status)) fault('a lead in no state');
      if (lead.status === 'active' && !lead.waiting_for) fault('an active lead that does not say what it waits for');
      if (lead.status === 'paused' && !lead.hold_since) fault('a paused lead that does not say since when');
      const ended = !['active', 'pending', 'paused'].includes(lead.status);
      if (ended !== (lead.finished_at !== null)) fault('an end without its moment, or a moment without its end');
    }
  }
}

/** State of a lead in the database, with the lead's index in the world's list. */
interface LeadState {
  index: number;
  id: string;
  contact_id: string;
  campaign_id: string;
  mailbox_id: string | null;
  state: string;
  /** Status of the campaign. */
  status: string;
  waiting_for: object | null;
  waiting_until: Date | null;
  blocked: boolean;
  hold_since: Date | null;
  hold_until: Date | null;
  failure_reason: object | null;
  waits: boolean;
  slot: boolean;
  /** Time (epoch ms) at which the lead's email is due, if the lead is at an email step. */
  due: number | null;
}

/** Facts about the simulated organization that the check of every lead needs. */
interface Surroundings {
  /** Counters of the organization that disagree with its emails; null if all agree. */
  counters: object[] | null;
  /** Mailboxes with a reduced limit because their warmup emails are delivered to spam. */
  unwell: string[];
  /** Slots of today and of the two days before, including those of warmup. */
  emails: [campaign: string | null, mailbox: string, at: number, day: string, isFirst: boolean][] | null;
}

/** Reads every table by the world's own ids, so that other worlds in the same database do not slow it down. */
const COUNTERS_OFF = `select jsonb_agg(jsonb_build_object('scope', coalesce(d.scope, s.scope), 'id', coalesce(d.scope_id, s.scope_id), 'day', coalesce(d.day, s.day), 'count', d.count, 'emails', s.n)) from (
         select 'mailbox' as scope, mailbox_id as scope_id, day, count(*)::int as n
         from (select mailbox_id, (slot_at at time zone 'utc')::date as day from sends where organization_id = :org
           -- One that was given up before it was claimed counts no more.
           union all select mailbox_id, slot_day from warmup_mails
           where organization_id = :org and (state <> 'failed' or claimed_at is not null)) emails group by 1, 2, 3
         union all select 'campaign', campaign_id, slot_day, count(*)::int from sends
         where organization_id = :org and campaign_id is not null group by 1, 2, 3) s
       full join (select scope, scope_id, day, count from daily_counters where scope_id = any(:scopes::uuid[]) and scope in ('mailbox', 'campaign')) d
         on d.scope = s.scope and d.scope_id = s.scope_id and d.day = s.day
       where coalesce(d.count, 0) <> coalesce(s.n, 0)
         -- Emails of a mailbox that was removed belong to none.
         and coalesce(d.scope_id, s.scope_id) in (select id from mailboxes where organization_id = :org union all select unnest(:campaigns::uuid[]))`;

/** Checks invariants of the rows: every lead has one state, and every waiting lead has a next time. */
export async function checkHour(
  db: RawDb,
  ledger: Ledger,
  wakes: ReadonlyMap<string, number | null>,
  hours: { from: number; until: number },
): Promise<void> {
  const campaigns = ledger.built.campaigns.map(({ id }) => id);
  // Leads whose workflow waits without a time. An ended workflow is queried only if its lead looks inconsistent.
  const sleeping = [...wakes].flatMap(([key, at]) => (at === null ? [key.split('/')[2] ?? []].flat() : []));
  const found = await runStatement<Surroundings & { id: string | null }>(
    db,
    `select counters, unwell, emails, id, contact_id, mailbox_id, state, waiting_for, waiting_until, blocked, hold_since, hold_until, failure_reason, campaign_id,
       status, waits, slot, due
     from (select (${COUNTERS_OFF}) as counters,
         array(select mailbox_id from warmup_standings where organization_id = :org and health_state not in ('healthy', 'watch')) as unwell,
         (select jsonb_agg(jsonb_build_array(campaign_id, mailbox_id, extract(epoch from at) * 1000, slot_day, is_first)) from (
            select campaign_id, mailbox_id, coalesce(sent_at, slot_at) as at, slot_day, is_first from sends
            where organization_id = :org and slot_at > :since
            union all select null, mailbox_id, coalesce(sent_at, slot_at), slot_day, false from warmup_mails
            where organization_id = :org and slot_at > :since) slots) as emails) surroundings
     left join lateral (
       select e.id, e.contact_id, e.mailbox_id, e.state, e.waiting_for, e.waiting_until, e.blocked, e.hold_since, e.hold_until, e.failure_reason, e.campaign_id,
         c.status, exists (select 1 from waits w where w.enrollment_id = e.id and w.state = 'open') as waits,
         exists (select 1 from sends s where s.enrollment_id = e.id and s.state in ('reserved', 'sending')) as slot,
         case when e.state = 'active' then (select extract(epoch from e.step_started_at)::float8 * 1000 + st.wait_after * 86400000.0
           from campaign_steps st where st.id = e.current_step_id and st.kind = 'email'
             and not exists (select 1 from sends s where s.enrollment_id = e.id and s.step_id = st.id)) end as due
       from enrollments e join campaigns c on c.id = e.campaign_id
       where e.organization_id = :org and e.campaign_id = any(:campaigns::uuid[])
         and (e.state in ('pending', 'active') or e.contact_id = any(:sleeping::uuid[]) or e.state <> 'completed' and e.failure_reason is null
           or exists (select 1 from sends s where s.enrollment_id = e.id and s.state in ('reserved', 'sending')))) lead on true`,
    {
      org: ledger.built.organizationId,
      campaigns,
      scopes: [...ledger.built.mailboxes, ...campaigns],
      since: new Date(hours.from - 2 * DAY),
      sleeping,
    },
  );
  const surroundings = found.rows[0]!;
  const leads = surroundings.id === null ? [] : found.rows;
  const rows = leads.map(({ counters: _, unwell: __, emails: ___, ...lead }) => lead as unknown as LeadState);
  const built = new Map(ledger.built.leads.map(({ enrollment }, lead) => [enrollment, lead]));
  const at = hours.from;
  for (const counter of surroundings.counters ?? []) ledger.fault(at, 'a counter that is off', JSON.stringify(counter));
  for (const row of rows) {
    row.index = built.get(row.id)!;
    if (row.state === 'pending') row.due = ledger.firstDue(row.index);
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
  checkStarvation(ledger, rows, surroundings, hours);
}

/** Email of the engine, with its slot. */
interface Slot {
  campaign: number;
  /** Index of the mailbox; -1 if it was removed, because its emails still count for their campaign. */
  mailbox: number;
  at: number;
  day: string;
  isFirst: boolean;
}

/**
 * Checks that no lead starves. A lead that has been due for long must have an email or a slot, provided that a mailbox
 * was idle that could send to it. The mailbox must have had capacity on the UTC day and for the campaign, and the
 * campaign must have been open and within its limits. No event may have happened in these hours. Uncertain data is
 * interpreted in the engine's favour; the rules are those of the ledger.
 */
function checkStarvation(
  ledger: Ledger,
  rows: readonly LeadState[],
  { unwell, emails }: Surroundings,
  hours: { from: number; until: number },
): void {
  const { built } = ledger;
  const waiting = rows.filter(
    (row) => row.status === 'active' && !row.hold_since && !row.blocked && !row.slot && row.due !== null,
  );
  if (!waiting.some(({ due }) => due! <= hours.until - STARVED_MS)) return;
  const weak = new Set(unwell);
  const slots = (emails ?? []).map(([campaign, mailbox, at, day, isFirst]): Slot => ({
    campaign: built.campaigns.findIndex(({ id }) => id === campaign),
    mailbox: built.mailboxes.indexOf(mailbox),
    at: Math.round(at),
    day,
    isFirst,
  }));
  for (let now = hours.from; now <= hours.until; now += HOUR)
    for (const row of waiting)
      if (row.due! <= now - STARVED_MS && starves(ledger, row, { rows, slots, weak, now }))
        return ledger.fault(now, 'a lead that starves', JSON.stringify(row));
}

function starves(
  ledger: Ledger,
  lead: LeadState,
  {
    rows,
    slots,
    weak,
    now,
  }: { rows: readonly LeadState[]; slots: readonly Slot[]; weak: ReadonlySet<string>; now: number },
): boolean {
  const { spec, built } = ledger;
  const moments = [STARVED_MS, STARVED_MS / 2, MINUTE].map((before) => now - before);
  // Skips this check after a change; the same lead is checked again an hour later.
  if (moments[0]! < spec.from || ledger.changedBetween(moments[0]!, now)) return false;
  const { campaign, timezone, provider } = spec.leads[lead.index]!;
  const rules = ledger.rulesAt(campaign, now);
  const day = dayOf(rules, now);
  const open = moments.every(
    (at) =>
      isOpenAt(rules, at) &&
      dayOf(rules, at) === day &&
      ledger.isActive(campaign, at) &&
      isPreferred(rules, at, timezone),
  );
  if (!open) return false;
  const today = slots.filter((slot) => slot.campaign === campaign && slot.day === day);
  const others = rows.filter(
    (other) => other.campaign_id === lead.campaign_id && other.state === 'active' && !other.slot,
  );
  if (today.length + others.length >= rules.dailyLimit) return false;
  const isFirst = !ledger.emails.some((email) => email.lead === lead.index);
  if (isFirst && rules.maxNewPerDay > 0 && today.filter((slot) => slot.isFirst).length >= rules.maxNewPerDay)
    return false;
  return spec.mailboxes.some((mailbox, index) => {
    if (lead.mailbox_id !== null && lead.mailbox_id !== built.mailboxes[index]) return false;
    if (weak.has(built.mailboxes[index]!)) return false;
    if (isFirst && rules.espMatch === 'strict' && !matches(provider, mailbox.provider)) return false;
    if (!ledger.isSender(campaign, index, now) || moments.some((at) => ledger.rests(index, at))) return false;
    const { cap, gapSeconds } = ledger.mailboxAt(index, now);
    const own = slots.filter((slot) => slot.mailbox === index);
    const given = own.filter((slot) => slot.campaign === campaign && slot.day === day).length;
    // Assumes the lowest level, because the ramp may have started late.
    const level = rules.ramp ? Math.min(rules.ramp.start, rules.ramp.ceiling || Infinity) : Infinity;
    if (given >= Math.min(cap, rules.dailyLimit, level)) return false;
    // Keeps room for due follow-ups, which have priority in their mailbox.
    const kept = isFirst ? others.filter((other) => other.mailbox_id === built.mailboxes[index]).length : 0;
    return moments.every(
      (at) =>
        own.filter((slot) => Math.floor(slot.at / DAY) === Math.floor(at / DAY)).length + kept < cap &&
        own.every((slot) => Math.abs(slot.at - at) >= gapSeconds * 1000 + MINUTE),
    );
  });
}
