import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readAttributionBreakdown, readAttributionSummary } from '../domain/reporting/acquisition/attribution.ts';
import { explainPerson, listAttributions } from '../domain/reporting/acquisition/attributions.ts';
import { readBreakdown, readSummary } from '../domain/reporting/acquisition/cohort.ts';
import { DIMENSIONS } from '../domain/reporting/acquisition/dimensions.ts';
import { readEventTrend } from '../domain/reporting/acquisition/event-trends.ts';
import { explainFigure } from '../domain/reporting/acquisition/explain.ts';
import { readFunnel } from '../domain/reporting/acquisition/funnels.ts';
import { DROP_OFFS, listProspects, PROSPECT_FILTERS } from '../domain/reporting/acquisition/prospects.ts';
import { readTimeline } from '../domain/reporting/acquisition/timeline.ts';
import { listAccounts } from '../domain/reporting/analytics/accounts.ts';
import {
  compareCampaigns,
  readCampaignDays,
  readCampaignHours,
  readCampaignReport,
} from '../domain/reporting/analytics/campaigns.ts';
import { readDashboard } from '../domain/reporting/analytics/dashboard.ts';
import { readDeliverability } from '../domain/reporting/analytics/deliverability.ts';
import { explainAnalytics } from '../domain/reporting/analytics/explain.ts';
import { readUsage } from '../domain/reporting/analytics/usage.ts';
import { readWarmup } from '../domain/reporting/analytics/warmup.ts';
import { ACQUISITION_MEASURES, ACQUISITIONS } from '../domain/reporting/aggregates/acquisitions.ts';
import { COUNTED_VISITS, VISITS } from '../domain/reporting/aggregates/visits.ts';
import { systemCtx } from '../domain/platform/kernel/context.ts';
import { DAY_MS } from '../lib/clock.ts';
import { newId } from '../lib/ids.ts';
import { rawDb, type TestDeps } from '../test/harness/database.ts';
import { createCampaign, createMailbox, createTenant } from '../test/harness/factories.ts';
import type { BenchContext, BenchResult } from './context.ts';
import { copyRows, filling, withoutIndexes, withoutTriggers } from './fill.ts';
import { openSeries, percentile, timed } from './measure.ts';
import { tablesOf } from './reports-data.ts';
import { idOf, type Office, type Shape } from './reports-emails.ts';

const FULL: Shape = { contacts: 1_000_000, sends: 10_000_000, engagements: 20_000_000, campaigns: 400 };
const QUICK: Shape = { contacts: 5_000, sends: 50_000, engagements: 100_000, campaigns: 20 };
const MAILBOXES = 50;
const PLANS = fileURLToPath(new URL('reporting-plans.md', import.meta.url));
const TARGET_MS = 150;
const TARGET_WIDE_MS = 300;

/**
 * Measures every route of analytics and acquisition on the facts of many emails: time, and the plan of each statement.
 */
export async function run({ assembly, quick, scale, dataDir, log }: BenchContext): Promise<BenchResult> {
  const { deps } = assembly;
  const shape = quick ? QUICK : scaled(FULL, scale);
  const { office, filledMs } = await dataSet(deps, shape, dataDir, log);
  // Uses enough rounds, so that the 95th percentile is not the slowest round.
  const rounds = quick ? 3 : 60;
  const known = [
    { label: 'sends, contacts, engagement rows', value: `${shape.sends}, ${shape.contacts}, ${shape.engagements}` },
    { label: 'written in', value: `${Math.round(filledMs / 1000)} s` },
  ];
  const { figures, raw, measure } = openSeries(rounds, known, log);
  const plans: string[] = [];
  for (const [what, work] of Object.entries(reports(deps, office))) {
    plans.push(await plansOf(deps, what, () => work(0)));
    await measure(what, work);
  }
  await writeFile(quick ? join(tmpdir(), 'heron-reporting-plans.md') : PLANS, planPage(shape, plans));
  const isWide = (what: string) => /breakdown|funnel/.test(what);
  const target = (what: string, limitMs: number, of: (name: string) => boolean) => {
    const [worst, p95] = Object.entries(raw)
      .filter(([name]) => of(name))
      .map(([name, times]) => [name, percentile(times, 0.95)] as const)
      .sort((a, b) => b[1] - a[1])[0]!;
    return { what, target: `p95 under ${limitMs} ms`, got: `${p95.toFixed(1)} ms (${worst})`, met: p95 < limitMs };
  };
  return {
    figures,
    targets: [
      target('funnels and breakdowns', TARGET_WIDE_MS, isWide),
      target('every other route', TARGET_MS, (name) => !isWide(name)),
      {
        what: 'data set',
        target: 'written in under 600 s',
        got: `${Math.round(filledMs / 1000)} s`,
        met: filledMs < 600_000,
      },
    ],
    raw,
  };
}

/** Writes the data set, or reuses the one that an earlier run has left in `dataDir`. */
async function dataSet(
  deps: TestDeps,
  shape: Shape,
  dataDir: string | undefined,
  log: (line: string) => void,
): Promise<{ office: Office; filledMs: number }> {
  const note = dataDir && join(dataDir, 'bench-reports.json');
  const text = note && (await readFile(note, 'utf8').catch(() => undefined));
  if (text) {
    const kept = JSON.parse(text) as { shape: Shape; office: Office; filledMs: number };
    if (JSON.stringify(kept.shape) !== JSON.stringify(shape))
      throw new Error(`${dataDir} holds a data set of another size`);
    return { office: { ...kept.office, now: new Date(kept.office.now) }, filledMs: kept.filledMs };
  }
  const office = await openOffice(deps, shape);
  const filledMs = await timed(() => filling(rawDb(deps.db), () => fill(deps, office, shape, log)));
  log(`filled in ${Math.round(filledMs / 1000)} s`);
  if (note) await writeFile(note, JSON.stringify({ shape, office, filledMs }));
  return { office, filledMs };
}

function scaled({ campaigns, ...counts }: Shape, scale: number): Shape {
  const of = (count: number) => Math.round(count * scale);
  return { contacts: of(counts.contacts), sends: of(counts.sends), engagements: of(counts.engagements), campaigns };
}

/** Creates a workspace with the campaigns, mailboxes and goals of the data set. */
export async function openOffice(deps: TestDeps, shape: Shape): Promise<Office> {
  const { organizationId } = await createTenant(deps);
  const [campaignIds, stepIds, mailboxIds]: [string[], string[], string[]] = [[], [], []];
  for (let n = 0; n < shape.campaigns; n += 1) {
    const made = await createCampaign(deps, organizationId, [{ subject: 'A' }, { subject: 'B' }, { subject: 'C' }]);
    campaignIds.push(made.campaignId);
    stepIds.push(...made.stepIds);
  }
  for (let n = 0; n < MAILBOXES; n += 1) mailboxIds.push(await createMailbox(deps, organizationId, `m${n}@ours.test`));
  const goals = { signup: newId(), activation: newId(), paid: newId() };
  const now = deps.clock.now();
  for (const [kind, id] of Object.entries(goals))
    await deps.db('goals').insert({
      id,
      organization_id: organizationId,
      name: kind,
      kind,
      is_primary: true,
      revision: 1,
      created_at: now,
      updated_at: now,
    });
  return { organizationId, campaignIds, stepIds, mailboxIds, goals, now };
}

async function fill(deps: TestDeps, office: Office, shape: Shape, log: (line: string) => void): Promise<void> {
  const raw = rawDb(deps.db);
  const step = async (table: string, write: () => Promise<void>) =>
    log(`${table}: ${((await timed(write)) / 1000).toFixed(1)} s`);
  // Writes three tables concurrently, because one can build its indexes while others receive rows.
  const tables = tablesOf(shape, office);
  const lane = async () => {
    for (const { table, columns, rows } of tables) await step(table, () => copyRows(raw, table, columns, rows));
  };
  await Promise.all([lane(), lane(), lane()]);
  await raw.raw('analyze');
  await step('visit_facts', async () => {
    const writeVisits = async () => {
      // Splits the visitors into two halves, because an insert uses only one process.
      const half = (n: number) =>
        raw.raw(
          `insert into visit_facts (organization_id, visitor, part, key, campaign_id, first_at)
           select :org, visitor, part, key, campaign_id, first_at from (
             with wanted as (select distinct visitor from send_facts where visitor is not null and uuid_hash(visitor) & 1 = :n) ${VISITS}) found`,
          { org: office.organizationId, n },
        );
      await Promise.all([half(0), half(1)]);
    };
    await withoutIndexes(raw, 'visit_facts', () => withoutTriggers(raw, 'visit_facts', writeVisits));
    await raw.raw(
      `insert into fact_visits (organization_id, campaign_id, part, key, visitors)
       select :org, campaign_id, part, key, visitors from (${COUNTED_VISITS}) counted`,
      { org: office.organizationId },
    );
  });
  await step('acquisition_facts', async () => {
    await raw.raw(
      `insert into acquisition_facts (organization_id, person_id, goal_id, ${ACQUISITION_MEASURES.join(', ')})
       select :org, person_id, goal_id, ${ACQUISITION_MEASURES.join(', ')} from (
         with wanted as (select p.id, split_part(k.email, '@', -1) as domain from people p join contacts k on k.id = p.contact_id
           where p.organization_id = :org and exists (select 1 from conversions v where v.person_id = p.id)) ${ACQUISITIONS}) found`,
      { org: office.organizationId },
    );
  });
}

function reports(deps: TestDeps, office: Office): Record<string, (round: number) => Promise<unknown>> {
  const ctx = systemCtx(deps, office.organizationId, 'bench');
  const now = deps.clock.now();
  const month = { from: new Date(now.getTime() - 30 * DAY_MS), to: now };
  const cohort = (round: number) => ({
    from: new Date(month.from.getTime() - round * 3600_000),
    to: now,
    windowDays: 30,
  });
  const campaignId = (round: number) => office.campaignIds[(round * 7) % office.campaignIds.length]!;
  const day = (at: Date) => at.toISOString().slice(0, 10);
  const days = { from: day(month.from), to: day(now) };
  const contactId = (round: number) => idOf('contact', round * 10);
  const personId = (round: number) => idOf('person', round * 10);
  const { signup } = office.goals;
  const event = {
    kind: 'event',
    eventName: 'app.opened',
    predicates: [{ path: 'plan', op: 'eq', value: 'pro' }],
  } as const;
  return {
    'analytics dashboard': () => readDashboard(ctx, '90d'),
    'analytics deliverability': () => readDeliverability(ctx, month),
    'analytics warmup': () => readWarmup(ctx, days, undefined),
    'analytics campaigns/compare': () => compareCampaigns(ctx, office.campaignIds.slice(0, 10), days),
    'analytics campaign, the largest': () => readCampaignReport(ctx, office.campaignIds[0]!),
    'analytics campaign': (round) => readCampaignReport(ctx, campaignId(round + 5)),
    'analytics campaign/daily': () => readCampaignDays(ctx, office.campaignIds[0]!, days),
    'analytics campaign/hourly': () => readCampaignHours(ctx, office.campaignIds[0]!, day(now)),
    'analytics accounts': () => listAccounts(ctx),
    'analytics usage': () => readUsage(ctx, 'month'),
    'analytics explain sent, 30 days': () => explainAnalytics(ctx, 'sent', month, { limit: 50 }),
    'analytics explain opens of a campaign': (round) =>
      explainAnalytics(ctx, 'human_opens', { ...month, campaignId: campaignId(round) }, { limit: 50 }),
    'analytics explain opens, 30 days': () => explainAnalytics(ctx, 'opens', month, { limit: 50 }),
    'analytics explain visitors of the largest campaign': () =>
      explainAnalytics(ctx, 'countries', { campaignId: office.campaignIds[0]!, key: 'DE' }, { limit: 50 }),
    'analytics explain replies, 30 days': () => explainAnalytics(ctx, 'replies', month, { limit: 50 }),
    'acquisition summary': (round) => readSummary(ctx, cohort(round)),
    'acquisition summary of the largest campaign': (round) =>
      readSummary(ctx, { ...cohort(round), campaignId: office.campaignIds[0]! }),
    ...Object.fromEntries(
      DIMENSIONS.map((dimension) => [
        `acquisition breakdown by ${dimension}`,
        (round: number) => readBreakdown(ctx, cohort(round), dimension),
      ]),
    ),
    'acquisition explain signup': (round) =>
      explainFigure(ctx, cohort(round), { figure: 'signup', dimension: 'all' }, { limit: 50 }),
    'acquisition event-trends': () =>
      readEventTrend(ctx, { name: 'app.opened', predicates: event.predicates, ...month }, 'day'),
    'acquisition funnel of events': (round) =>
      readFunnel(ctx, { ...cohort(round), steps: [{ kind: 'goal', goalId: signup }, event, event] }),
    'acquisition funnel from a send': (round) =>
      readFunnel(ctx, {
        ...cohort(round),
        steps: [
          { kind: 'confirmed_send', campaignId: office.campaignIds[0]! },
          { kind: 'positive_reply', campaignId: office.campaignIds[0]! },
          { kind: 'goal', goalId: signup },
        ],
      }),
    'acquisition prospects': () => listProspects(ctx, {}, { limit: 50 }),
    ...Object.fromEntries(
      [...PROSPECT_FILTERS].map((filter) => [
        `acquisition prospects ${filter}`,
        () => listProspects(ctx, { filter }, { limit: 50 }),
      ]),
    ),
    ...Object.fromEntries(
      [...DROP_OFFS].map((dropoff) => [
        `acquisition prospects ${dropoff}`,
        () => listProspects(ctx, { dropoff }, { limit: 50 }),
      ]),
    ),
    'acquisition prospects by text': (round) => listProspects(ctx, { q: `p${round * 11}@` }, { limit: 50 }),
    'acquisition timeline': (round) => readTimeline(ctx, contactId(round)),
    'acquisition attribution summary': () => readAttributionSummary(ctx, month),
    'acquisition attribution breakdown': () => readAttributionBreakdown(ctx, month, 'campaign'),
    'acquisition attributions': () => listAttributions(ctx, month, { limit: 50 }),
    'acquisition attributions of a campaign': (round) =>
      listAttributions(ctx, { ...month, campaignId: campaignId(round) }, { limit: 50 }),
    'acquisition attribution of a person': (round) => explainPerson(ctx, personId(round)),
  };
}

/** Returns the plans of a report's statements as PostgreSQL executed them. */
async function plansOf(deps: TestDeps, what: string, work: () => Promise<unknown>): Promise<string> {
  const { client } = rawDb(deps.db);
  const asked: { sql: string; bindings: unknown[] }[] = [];
  const listen = ({ sql, bindings }: { sql: string; bindings?: unknown[] }) => {
    if (/^\s*(select|with)/i.test(sql)) asked.push({ sql, bindings: bindings ?? [] });
  };
  client.on('query', listen);
  await work();
  client.off('query', listen);
  const parts: string[] = [];
  const connection = await client.acquireConnection();
  try {
    for (const { sql, bindings } of asked) {
      const { rows } = await connection.query(`explain (analyze, costs off, timing off, summary on) ${sql}`, bindings);
      const plan = rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
      // Shortens the lists of ids, which can be as long as the report.
      parts.push(plan.replaceAll(/\{[0-9a-f-]{36}(,[0-9a-f-]{36}){2,}\}/g, '{…}'));
    }
  } finally {
    await client.releaseConnection(connection);
  }
  return `## ${what}\n\n${parts.map((plan) => `\`\`\`\n${plan}\n\`\`\``).join('\n\n')}\n`;
}

function planPage(shape: Shape, plans: string[]): string {
  return `# Plans of the reports

Written by \`npm run bench -- reports\`: what PostgreSQL does for each report on ${shape.sends.toLocaleString('en')} sends to ${shape.contacts.toLocaleString('en')} contacts with
${shape.engagements.toLocaleString('en')} opens and clicks. The times of the routes are in [RESULTS.md](RESULTS.md).

${plans.join('\n')}`;
}
