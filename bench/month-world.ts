import { spentDay } from '../domain/sending/free-seats.ts';
import type { RawDb, TestDeps } from '../test/harness/database.ts';
import { createCampaign, createLabel, createTenant, type StepSpec } from '../test/harness/factories.ts';

/** Monday, noon UTC, which is in the middle of every mailbox's day. */
export const NOON = new Date('2026-03-02T12:00:00Z');
const TODAY = '2026-03-02';
/** Number of emails that the campaign with a ramp may send per mailbox today. */
const RAMP = 3;

/** Workspace at noon of a busy day. */
export interface LivingWorld {
  organizationId: string;
  /** Campaigns by the kind of their sender pool. */
  campaigns: Record<CampaignKind, { campaignId: string; stepIds: string[] }>;
  mailboxes: number;
  emailsToday: number;
}

export type CampaignKind = 'everybody' | 'explicit' | 'tag' | 'ramp' | 'strict' | 'few';

const STEPS: StepSpec[] = [
  { subject: 'Hello', body_plain: 'Hi' },
  { body_plain: 'Again', wait_after: 2 },
];

/**
 * Fills a database with a busy workspace. Mailboxes differ in cap, gap and provider; some are held, disabled or
 * exhausted. Six kinds of campaigns share them, with emails sent yesterday and today and reserved slots. The largest
 * campaign has leads in every state.
 */
export async function fillWorld(
  deps: TestDeps,
  { mailboxes, leads, log }: { mailboxes: number; leads: number; log: (line: string) => void },
): Promise<LivingWorld> {
  const { db } = deps;
  const { organizationId } = await createTenant(deps, 'Month');
  // Drops an index that only contact searches use, because filling it takes longer than all other work.
  await db.raw('drop index contacts_search');
  const tag = await createLabel(deps, organizationId, 'tag');
  const create = (fields: Record<string, unknown> = {}) =>
    createCampaign(deps, organizationId, STEPS, { daily_limit: 1_000_000, created_at: '2026-01-01', ...fields });
  const campaigns: LivingWorld['campaigns'] = {
    everybody: await create(),
    explicit: await create({ sender_strategy: 'explicit' }),
    tag: await create({ email_tags: [tag] }),
    // Campaign with a ramp that nearly every mailbox has exhausted today.
    ramp: await create({
      ramp_enabled: true,
      ramp_start: RAMP,
      ramp_increment: 1,
      ramp_ceiling: 50,
      ramp_level: RAMP,
      ramp_day: TODAY,
    }),
    strict: await create({ esp_match_mode: 'strict' }),
    few: await create({ sender_strategy: 'explicit' }),
  };
  await fillMailboxes(db, organizationId, mailboxes);
  await fillPools(db, organizationId, campaigns, tag);
  log(`${mailboxes} mailboxes are there`);
  await fillLeads(db, organizationId, campaigns.everybody, leads);
  log(`${leads} leads are there`);
  await fillSends(db, organizationId, campaigns);
  await fillCounts(db, organizationId);
  await noteSpent(db, organizationId, campaigns.ramp.campaignId);
  await holdSome(db, organizationId);
  for (const table of [
    'mailboxes',
    'campaign_senders',
    'mailbox_tags',
    'enrollments',
    'contacts',
    'sends',
    'daily_counters',
  ])
    await db.raw(`vacuum analyze ${table}`);
  const { count } = (await db('sends').where({ slot_day: TODAY }).count().first()) as { count: number };
  log(`${count} emails of today are there`);
  return { organizationId, campaigns, mailboxes, emailsToday: count };
}

/** Inserts mailboxes; 1 in 50 is disabled. */
async function fillMailboxes(db: RawDb, org: string, mailboxes: number): Promise<void> {
  await db.raw(
    `insert into mailboxes (id, organization_id, email, provider, status, smtp, credentials, min_wait_time, campaign_limit, created_at, updated_at)
     select gen_random_uuid(), :org, 'm' || n || '@bench.example.com', (array['gmail', 'gmail', 'outlook', 'smtp_imap'])[1 + n % 4],
       case when n % 50 = 7 then 'inactive' else 'active' end, '{}', '', (array[60, 300, 600, 900, 1800])[1 + n % 5], 20 + n * 37 % 81, :now, :now
     from generate_series(1, :n) n`,
    { org, n: mailboxes, now: NOON },
  );
}

async function fillPools(db: RawDb, org: string, campaigns: LivingWorld['campaigns'], tag: string): Promise<void> {
  const number = `substr(m.email, 2, strpos(m.email, '@') - 2)::int`;
  await db.raw(
    `insert into campaign_senders (organization_id, campaign_id, mailbox_id, weight)
     select :org, :campaign, m.id, 1 + ${number} % 3 from mailboxes m where m.organization_id = :org`,
    { org, campaign: campaigns.explicit.campaignId },
  );
  await db.raw(
    `insert into campaign_senders (organization_id, campaign_id, mailbox_id)
     select :org, :campaign, m.id from mailboxes m where m.organization_id = :org and ${number} % 40 = 1`,
    { org, campaign: campaigns.few.campaignId },
  );
  await db.raw(
    `insert into mailbox_tags (organization_id, mailbox_id, label_id)
     select :org, m.id, :tag from mailboxes m where m.organization_id = :org and ${number} % 10 < 3`,
    { org, tag },
  );
}

/**
 * Inserts leads. The first sixth, in order of entry, has received an email: most of these have finished, the rest wait
 * for the second email. Of all leads, 1 % are held, 20 % wait until they are due, and 2 % are due.
 */
async function fillLeads(
  db: RawDb,
  org: string,
  { campaignId, stepIds }: { campaignId: string; stepIds: string[] },
  leads: number,
): Promise<void> {
  await db.transaction(async (trx) => {
    // Skips foreign keys and triggers, because the rows are consistent.
    await trx.raw('set local session_replication_role = replica');
    await trx.raw('set local statement_timeout = 0');
    await trx.raw('set local synchronous_commit = off');
    await trx.raw(
      `create temporary table people on commit drop as select n, gen_random_uuid() as id from generate_series(1, :n) n`,
      { n: leads },
    );
    await trx.raw(
      `insert into contacts (id, organization_id, email, first_name, company, custom_fields, created_at, updated_at)
       select id, :org, 'c' || n || '@lead.example.com', 'Lea', 'Company ' || n % 5000, jsonb_build_object('city', 'Town ' || n % 300), :now, :now from people order by id`,
      { org, now: NOON },
    );
    await trx.raw(
      `insert into enrollments (id, organization_id, campaign_id, contact_id, state, current_step_id, step_started_at, waiting_for, waiting_until, mailbox_id,
         hold_since, hold_until, launch_after, signalled_epoch, entered_at, launched_at, last_activity_at)
       select gen_random_uuid(), :org, :campaign, p.id, s.state, case when s.state = 'active' then :second::uuid end, case when s.state = 'active' then :now::timestamptz end,
         case when s.state = 'active' then jsonb_build_object('code', 'wait.for_day', 'values', jsonb_build_object()) end,
         case when s.state = 'active' then :now::timestamptz + (p.n % 40) * interval '1 hour' end,
         case when s.state <> 'pending' then m.ids[1 + p.n % cardinality(m.ids)] end,
         case when s.state = 'pending' and p.n % 100 = 50 then :now::timestamptz - interval '1 day' end,
         case when s.state = 'pending' and p.n % 200 = 50 then :now::timestamptz + interval '2 days' end,
         case when s.state = 'pending' and p.n % 5 = 1 then :now::timestamptz + (1 + p.n % 86000) * interval '1 second'
           when s.state = 'pending' and p.n % 50 = 2 then :now::timestamptz - (p.n % 3600) * interval '1 second' else 'epoch' end,
         1, :now::timestamptz - interval '30 days' + p.n * interval '2 seconds', case when s.state <> 'pending' then :now::timestamptz end, :now
       from people p
       cross join lateral (select case when p.n > :mailed or p.n % 100 = 50 or p.n % 5 = 1 then 'pending' when p.n % 4 = 0 then 'active' else 'completed' end as state) s
       cross join (select array_agg(id) as ids from mailboxes where organization_id = :org and status = 'active') m`,
      { org, campaign: campaignId, second: stepIds[1]!, now: NOON, mailed: Math.floor(leads / 6) },
    );
  });
}

/**
 * Inserts emails. Each mailbox has used up to half of today's cap, one email per gap; 1 in 10 mailboxes has used all of
 * it. One in three has reserved slots. 98 % of the mailboxes have sent three emails of the campaign with a ramp.
 */
async function fillSends(db: RawDb, org: string, campaigns: LivingWorld['campaigns']): Promise<void> {
  const common = `id, organization_id, campaign_id, enrollment_id, step_id, mailbox_id, state, recipient, message_id, slot_at, slot_day, sent_at, is_first, created_at, updated_at`;
  const shared = [campaigns.everybody.campaignId, campaigns.explicit.campaignId, campaigns.strict.campaignId];
  await db.transaction(async (trx) => {
    await trx.raw('set local session_replication_role = replica');
    await trx.raw('set local statement_timeout = 0');
    await trx.raw('set local synchronous_commit = off');
    const fill = (rows: string, more: Record<string, unknown> = {}): Promise<unknown> =>
      trx.raw(
        `insert into sends (${common})
         select gen_random_uuid(), :org, r.campaign, gen_random_uuid(), :step, r.mailbox, r.state, 'r@lead.example.com',
           '<' || gen_random_uuid() || '@bench.example.com>', r.at, (r.at at time zone 'utc')::date, case when r.state = 'sent' then r.at end, r.n % 2 = 0, :now, :now
         from (${rows}) r`,
        {
          org,
          now: NOON,
          step: campaigns.everybody.stepIds[0]!,
          shared,
          ramp: campaigns.ramp.campaignId,
          ...more,
        } as never,
      ) as unknown as Promise<unknown>;
    const numbered = `(select *, substr(email, 2, strpos(email, '@') - 2)::int as number from mailboxes where organization_id = :org) m`;
    await fill(
      `select (:shared::uuid[])[1 + (m.number + n) % 3] as campaign, m.id as mailbox, 'sent' as state, n,
         :now::timestamptz - interval '1 day' - n * least(m.min_wait_time, 600) * interval '1 second' as at
       from ${numbered} cross join lateral generate_series(1, m.campaign_limit / 2) n`,
    );
    await fill(
      `select (:shared::uuid[])[1 + (m.number + n) % 3] as campaign, m.id as mailbox, 'sent' as state, n,
         :now::timestamptz - (m.number % 60) * interval '1 minute' - n * least(m.min_wait_time, 400) * interval '1 second' as at
       from ${numbered}
       cross join lateral generate_series(1, case when m.number % 10 = 5 then m.campaign_limit else m.number % (m.campaign_limit / 2) end) n`,
    );
    await fill(
      `select :ramp::uuid as campaign, m.id as mailbox, 'sent' as state, n, :now::timestamptz - (70 + m.number % 200) * interval '1 minute' - n * interval '30 minutes' as at
       from ${numbered} cross join generate_series(1, ${RAMP}) n where hashtext(m.id::text) % 50 <> 42`,
    );
    await fill(
      `select (:shared::uuid[])[1 + m.number % 3] as campaign, m.id as mailbox, 'reserved' as state, n,
         :now::timestamptz + (m.number % 600) * interval '1 second' + n * m.min_wait_time * interval '1 second' as at
       from ${numbered} cross join lateral generate_series(0, m.number % 3) n where m.number % 3 = 1`,
    );
  });
}

/**
 * Stores the counters of emails and lead states, and the times at which mailboxes become free, as the allocator would.
 */
async function fillCounts(db: RawDb, org: string): Promise<void> {
  await db.raw(
    `insert into daily_counters (organization_id, scope, scope_id, day, count)
     select :org::uuid, 'mailbox', mailbox_id, (slot_at at time zone 'utc')::date, count(*) from sends where organization_id = :org group by 3, 4
     union all select :org::uuid, 'campaign', campaign_id, slot_day, count(*) from sends where organization_id = :org group by 3, 4
     union all select :org::uuid, 'campaign_new', campaign_id, slot_day, count(*) from sends where organization_id = :org and is_first group by 3, 4`,
    { org },
  );
  await db.raw(
    `insert into campaign_flow_counts (organization_id, campaign_id, step_id, state, leads, is_folded)
     select organization_id, campaign_id, current_step_id, state, count(*), true from enrollments where organization_id = :org group by 1, 2, 3, 4`,
    { org },
  );
  await db.raw(
    `update mailboxes m set next_free_at = case when d.count >= m.campaign_limit then date_trunc('day', :now::timestamptz) + interval '1 day'
         else s.latest + m.min_wait_time * interval '1 second' end
     from (select mailbox_id, max(slot_at) filter (where slot_at <= :now::timestamptz + interval '10 minutes') as latest from sends where organization_id = :org group by 1) s
     left join daily_counters d on d.scope = 'mailbox' and d.scope_id = s.mailbox_id and d.day = :day
     where m.id = s.mailbox_id`,
    { org, now: NOON, day: TODAY },
  );
}

/** Marks the mailboxes that have exhausted their share of the campaign with a ramp, as the allocator would. */
async function noteSpent(db: RawDb, org: string, campaign: string): Promise<void> {
  await db.raw(
    `update mailboxes m set spent_days = array[:day::uuid] from (
       select mailbox_id from sends where campaign_id = :campaign and slot_day = :today group by 1 having count(*) >= :ramp) s
     where m.organization_id = :org and m.id = s.mailbox_id`,
    { org, campaign, today: TODAY, ramp: RAMP, day: spentDay(campaign, TODAY, RAMP) },
  );
}

/** Puts mailboxes on hold: 1 in 20 from the morning until the afternoon, and 1 in 100 until a person acts. */
async function holdSome(db: RawDb, org: string): Promise<void> {
  const number = `substr(email, 2, strpos(email, '@') - 2)::int`;
  await db.raw(
    `update mailboxes set hold_code = 'sender_refused', hold_reason = null, hold_until = :until where organization_id = :org and ${number} % 20 = 3`,
    { org, until: new Date(NOON.getTime() + 4 * 3_600_000) },
  );
  await db.raw(
    `update mailboxes set hold_code = 'auth_failed', hold_reason = null, hold_until = null where organization_id = :org and ${number} % 100 = 11`,
    { org },
  );
}
