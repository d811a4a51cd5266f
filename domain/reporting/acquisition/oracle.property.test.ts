import test from 'ava';
import fc from 'fast-check';
import { isCompanyDomain } from 'company-email-validator';
import {
  act,
  openOffice,
  perform,
  settle,
  SUBSCRIBERS,
  type Office,
  type Sent,
} from '../../../test/harness/acquisition-office.ts';
import { compareFunnels, compareProspects, compareSpend } from '../../../test/harness/behaviour-oracle.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { rebuildGroups } from '../aggregates/groups.ts';
import { verifyFacts } from '../aggregates/verify.ts';
import { registerSubscribers } from '../../platform/events/register.ts';
import { readAttributionBreakdown, readAttributionSummary, type AttributionDimension } from './attribution.ts';
import { explainPerson, listAttributions } from './attributions.ts';
import type { Cohort } from './cohort-conditions.ts';
import { readBreakdown, readSummary, STAGES, type CohortRow } from './cohort.ts';
import { MATCH_METHODS, STATUSES } from './credits.ts';
import { DIMENSIONS, type Dimension } from './dimensions.ts';
import { explainFigure, FIGURES, type FigureOf } from './explain.ts';

const clock = new ManualClock(new Date('2026-03-27T20:00:00Z'));
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
  await registerSubscribers(world.deps, SUBSCRIBERS);
});
test.after.always(() => world?.close());

/** Reads all rows that the reference implementation needs. */
async function readRaw({ org }: Office) {
  const of = (table: string) => world.deps.db(table).where({ organization_id: org });
  const [replies, people, identifiers, events, conversions, goals, corrections, settings, opens] = await Promise.all([
    of('engagement_events').where({ type: 'reply' }),
    of('people'),
    of('person_identifiers'),
    of('product_events'),
    of('conversions'),
    of('goals'),
    of('attribution_corrections').where({ is_current: true }),
    of('attribution_settings').first(),
    of('engagement_events').where({ type: 'open', machine: false }),
  ]);
  const primary = (kind: string): string | null =>
    goals.find((goal) => goal.kind === kind && goal.is_primary && !goal.archived_at)?.id ?? null;
  return {
    replies,
    opens,
    people,
    identifiers,
    events,
    conversions: conversions.map((row) => ({
      ...row,
      value: row.value_minor === null ? null : Number(row.value_minor),
    })),
    primary,
    corrections,
    window: (settings?.window_days ?? 30) as number,
    estimates: (settings?.company_estimates ?? true) as boolean,
  };
}
type Raw = Awaited<ReturnType<typeof readRaw>>;

/** Computes a report's expected figures in simple steps. `keys` contains the groups of a send. */
function expectedFigures(office: Office, raw: Raw, cohort: Cohort, dimension: Dimension) {
  const windowMs = cohort.windowDays * DAY_MS;
  const now = clock.now().getTime();
  const alive = (send: Sent) => !office.contacts[send.contact]!.gone;
  const inRange = office.sent.filter(
    ({ sentAt, campaignId }) =>
      sentAt >= cohort.from && sentAt < cohort.to && (!cohort.campaignId || campaignId === cohort.campaignId),
  );
  const keys = [...new Set(inRange.flatMap((send) => send.keys[dimension]))];
  const personOf = new Map(raw.people.filter((p) => p.contact_id).map((p) => [p.contact_id as string, p.id as string]));
  return keys.map((key) => {
    const sends = inRange.filter((send) => send.keys[dimension].includes(key));
    const isMature = (send: Sent) => send.sentAt.getTime() + windowMs <= now;
    const within = (send: Sent, at: Date) => at >= send.sentAt && at.getTime() < send.sentAt.getTime() + windowMs;
    const first = (rows: any[]): Date[] =>
      rows.length === 0 ? [] : [new Date(Math.min(...rows.map((row) => row.at.getTime())))];
    const moments = (send: Sent, stage: string): Date[] => {
      const answers = raw.replies.filter((row) => row.send_id === send.id);
      if (stage === 'replied') return first(answers);
      if (stage === 'positive_reply') return first(answers.filter(({ detail }) => detail.intent === 'positive'));
      const goal = raw.primary(stage);
      const person = personOf.get(send.contactId);
      return raw.conversions.filter((c) => c.goal_id === goal && c.person_id === person).map((c) => c.occurred_at);
    };
    const reached = (stage: string, among: Sent[]) =>
      new Set(
        among
          .filter((send) => alive(send) && moments(send, stage).some((at) => within(send, at)))
          .map(({ contactId }) => contactId),
      ).size;
    const money: Record<string, { amount: number; conversions: number }> = {};
    const revenueGoal = raw.primary('revenue') ?? raw.primary('paid');
    for (const c of raw.conversions) {
      if (c.goal_id !== revenueGoal || c.value === null) continue;
      if (
        !sends.some(
          (send) => alive(send) && personOf.get(send.contactId) === c.person_id && within(send, c.occurred_at),
        )
      )
        continue;
      const sum = (money[c.currency] ??= { amount: 0, conversions: 0 });
      sum.amount += c.value;
      sum.conversions += 1;
    }
    return {
      key,
      confirmed_sends: sends.length,
      mature_sends: sends.filter(isMature).length,
      prospects: new Set(sends.filter(alive).map(({ contactId }) => contactId)).size,
      stages: STAGES.map((stage) => [stage, reached(stage, sends), reached(stage, sends.filter(isMature))]),
      money: Object.entries(money)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([currency, sum]) => [currency, sum.amount, sum.conversions]),
    };
  });
}

const comparable = (row: CohortRow) => ({
  key: row.key,
  confirmed_sends: row.confirmedSends,
  mature_sends: row.matureSends,
  prospects: row.prospects,
  stages: row.stages.map(({ stage, people, maturePeople }) => [stage, people, maturePeople]),
  money: row.windowRevenue.map(({ currency, amountMinor, conversions }) => [currency, amountMinor, conversions]),
});
const byKey = (a: { key: string | null }, b: { key: string | null }) => ((a.key ?? '') < (b.key ?? '') ? -1 : 1);

/** Computes the expected credit of each customer in simple steps. */
function expectedCustomers(office: Office, raw: Raw) {
  const goal = raw.primary('signup') ?? raw.primary('paid');
  const windowMs = raw.window * DAY_MS;
  const domainOf = (address: string | undefined) => {
    const domain = address?.split('@')[1];
    return domain && isCompanyDomain(domain) ? domain : null;
  };
  const latest = (sends: Sent[], at: Date): Sent | undefined =>
    sends
      .filter(({ sentAt }) => sentAt <= at)
      .sort((a, b) => b.sentAt.getTime() - a.sentAt.getTime() || (a.id < b.id ? 1 : -1))[0];
  return raw.people.flatMap((person) => {
    const [conversion] = raw.conversions
      .filter((row) => row.person_id === person.id && row.goal_id === goal)
      .sort((a, b) => a.occurred_at.getTime() - b.occurred_at.getTime() || (a.id < b.id ? -1 : 1));
    if (!conversion) return [];
    const at: Date = conversion.occurred_at;
    const index = office.contacts.findIndex(({ id }) => id === person.contact_id);
    const address = person.contact_id
      ? office.contacts[index]!.email
      : raw.identifiers.find((row) => row.person_id === person.id)?.value;
    const recent = (send: Sent | undefined) =>
      send && at.getTime() < send.sentAt.getTime() + windowMs ? send : undefined;
    const correction = raw.corrections.find((row) => row.person_id === person.id);
    const alive = office.sent.filter((send) => !office.contacts[send.contact]!.gone);
    const own = recent(
      latest(
        alive.filter(({ contactId }) => contactId === person.contact_id),
        at,
      ),
    );
    const credit = correction ? office.sent.find(({ id }) => id === correction.send_id) : own;
    const domain = domainOf(address);
    const colleague =
      domain && raw.estimates && !correction && !credit
        ? recent(
            latest(
              alive.filter(
                (send) =>
                  send.contactId !== person.contact_id && domainOf(office.contacts[send.contact]!.email) === domain,
              ),
              at,
            ),
          )
        : undefined;
    const event = raw.events.find((row) => row.id === conversion.event_id);
    const kept = office.kept.get(`${person.id}/${goal}`);
    let method = 'unknown';
    if (!person.contact_id) method = 'none';
    else if (!event) method = kept && kept.eventId === conversion.event_id ? kept.method : 'unknown';
    else if (event.named_by === 'anonymous_id') method = 'website_visitor';
    else if (event.named_by === 'user_id' || event.contact_id !== person.contact_id) method = 'linked_identity';
    else if (event.named_by) method = event.named_by;
    const engaged =
      (credit && [...raw.replies, ...raw.opens].some((row) => row.send_id === credit.id && row.at <= at)) ||
      (credit &&
        raw.events.some(
          (row) =>
            row.person_id === person.id &&
            row.id !== conversion.event_id &&
            row.occurred_at >= credit.sentAt &&
            row.occurred_at < at,
        ));
    return [
      { personId: person.id as string, at, credit, colleague, method, corrected: !!correction, engaged: !!engaged },
    ];
  });
}

async function compareCohorts(t: any, office: Office, raw: Raw, cohort: Cohort, isWalked = true): Promise<void> {
  const ctx = world.system(office.org);
  const where = JSON.stringify(cohort);
  for (const dimension of DIMENSIONS) {
    const { rows } = await readBreakdown(ctx, cohort, dimension);
    const expected = expectedFigures(office, raw, cohort, dimension);
    t.deepEqual(rows.map(comparable).sort(byKey), expected.sort(byKey), `${dimension} ${where}`);
    if (dimension !== 'category' || !isWalked) continue;
    for (const row of rows) await walk(t, office, cohort, dimension, row);
  }
  const [all] = expectedFigures(office, raw, cohort, 'all');
  const summary = await readSummary(ctx, cohort);
  if (all) t.deepEqual(comparable(summary), all, where);
  else t.is(summary.confirmedSends, 0);
  if (isWalked) await walk(t, office, cohort, undefined, summary);
}

/**
 * Lists the rows behind every figure page by page, and checks that each row appears once and that their number equals
 * the figure.
 */
async function walk(
  t: any,
  office: Office,
  cohort: Cohort,
  dimension: Dimension | undefined,
  row: CohortRow,
): Promise<void> {
  const list = async (of: Pick<FigureOf, 'figure' | 'mature' | 'currency'>) => {
    const ids: string[] = [];
    let worth = 0;
    for (let cursor: string | undefined; ;) {
      const named = { ...of, dimension: dimension ?? 'all', ...(dimension ? { key: row.key } : {}) } as const;
      const page = await explainFigure(world.system(office.org), cohort, named, { limit: 4, cursor });
      ids.push(...page.rows.map(({ id }) => id));
      worth += page.rows.reduce((sum, each) => sum + (each.amount_minor ?? 0), 0);
      if (page.total !== undefined && !page.nextCursor) t.is(page.total, ids.length);
      if (!page.nextCursor) break;
      cursor = page.nextCursor;
    }
    t.is(new Set(ids).size, ids.length);
    return { count: ids.length, worth };
  };
  t.is((await list({ figure: 'confirmed_sends' })).count, row.confirmedSends);
  t.is((await list({ figure: 'mature_sends' })).count, row.matureSends);
  t.is((await list({ figure: 'prospects' })).count, row.prospects);
  for (const { stage, people, maturePeople } of row.stages) {
    t.true(FIGURES.includes(stage));
    t.is((await list({ figure: stage })).count, people, stage);
    t.is((await list({ figure: stage, mature: true })).count, maturePeople, stage);
  }
  for (const { currency, amountMinor, conversions } of row.windowRevenue)
    t.deepEqual(await list({ figure: 'window_revenue', currency }), { count: conversions, worth: amountMinor });
}

async function compareCredits(t: any, office: Office, raw: Raw, from: Date, to: Date, campaignId?: string) {
  const ctx = world.system(office.org);
  const all = expectedCustomers(office, raw);
  const inRange = all.filter(({ at }) => at >= from && at < to);
  const mine = inRange.filter(({ credit }) => !campaignId || credit?.campaignId === campaignId);
  const estimated = inRange.filter(
    ({ colleague }) => colleague && (!campaignId || colleague.campaignId === campaignId),
  );
  const attributed = mine.filter(({ credit }) => credit);
  const summary = await readAttributionSummary(ctx, { from, to, campaignId });
  t.like(summary, {
    customers: mine.length,
    attributed: attributed.length,
    unattributed: mine.length - attributed.length,
    withoutEngagement: attributed.filter(({ engaged }) => !engaged).length,
    corrected: mine.filter(({ corrected }) => corrected).length,
    estimated: estimated.length,
    pending: 0,
  });
  t.deepEqual(
    summary.matchMethods,
    Object.fromEntries(MATCH_METHODS.map((name) => [name, mine.filter(({ method }) => method === name).length])) as any,
  );
  for (const status of [undefined, ...STATUSES]) {
    const listed: any[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await listAttributions(ctx, { from, to, campaignId, status }, { limit: 2, cursor });
      listed.push(...page.rows);
      if (!page.nextCursor) break;
      cursor = page.nextCursor;
    }
    const expected =
      status === 'estimated'
        ? estimated
        : status === 'unattributed'
          ? mine.filter(({ credit }) => !credit)
          : status === 'attributed'
            ? attributed
            : mine;
    t.deepEqual(
      listed.map((row) => [row.person_id, row.send_id]),
      expected
        .sort((a, b) => b.at.getTime() - a.at.getTime() || (a.personId < b.personId ? 1 : -1))
        .map(({ personId, credit, colleague }) => [personId, credit?.id ?? colleague?.id ?? null]),
      String(status),
    );
  }
  const people = async (filter: object) =>
    (await listAttributions(ctx, { from, to, campaignId, ...filter }, { limit: 100 })).rows
      .map((row) => row.person_id)
      .sort();
  const ids = (rows: typeof mine) => rows.map(({ personId }) => personId).sort();
  for (const name of MATCH_METHODS)
    t.deepEqual(await people({ matchMethod: name }), ids(mine.filter(({ method }) => method === name)), name);
  t.deepEqual(await people({ corrected: true }), ids(mine.filter(({ corrected }) => corrected)));
  t.deepEqual(await people({ withoutEngagement: true }), ids(attributed.filter(({ engaged }) => !engaged)));
  for (const dimension of [...DIMENSIONS.filter((name) => name !== 'all'), 'match_method'] as AttributionDimension[]) {
    const keysOf = (send: Sent, method: string) => (dimension === 'match_method' ? [method] : send.keys[dimension]);
    const groups = new Map<string | null, [number, number, number, number]>();
    const add = (key: string | null, counts: [number, number, number, number]) =>
      groups.set(key, (groups.get(key) ?? [0, 0, 0, 0]).map((n, index) => n + counts[index]!) as never);
    for (const { credit, method, engaged, corrected } of attributed)
      for (const key of keysOf(credit!, method)) add(key, [1, engaged ? 0 : 1, corrected ? 1 : 0, 0]);
    for (const { colleague, method } of estimated) for (const key of keysOf(colleague!, method)) add(key, [0, 0, 0, 1]);
    const rows = await readAttributionBreakdown(ctx, { from, to, campaignId }, dimension);
    const counts = rows.map(({ key, customers, withoutEngagement, corrected, estimated }) => ({
      key,
      counts: [customers, withoutEngagement, corrected, estimated],
    }));
    const expected = [...groups].map(([key, sums]) => ({ key, counts: sums as number[] }));
    t.deepEqual(counts.sort(byKey), expected.sort(byKey), dimension);
  }
}

test('every number of summary, breakdown, attribution, prospects, funnels and spend is what the rows say, and what lies behind it', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 20, maxLength: 60 }), async (acts) => {
      const office = await openOffice(world, clock);
      for (const one of acts) await perform(office, one);
      await settle(office);
      const [verified] = await verifyFacts(world.deps, office.org);
      t.deepEqual(verified!.differences, []);
      const raw = await readRaw(office);
      const now = clock.now();
      const [long, edge] = [new Date(office.start.getTime() - 40 * DAY_MS), office.sent[3]?.sentAt ?? office.start];
      const standing = office.campaigns.find(({ deleted }) => !deleted)?.id;
      const end = new Date(now.getTime() + 1);
      const cohorts: Cohort[] = [
        { from: long, to: end, windowDays: 30 },
        { from: edge, to: end, windowDays: 1 },
        { from: long, to: edge, windowDays: 10, campaignId: standing },
      ];
      for (const cohort of cohorts) await compareCohorts(t, office, raw, cohort);
      await compareCohorts(t, office, raw, { from: long, to: edge, windowDays: 10 }, false);
      // Marks the group counts as incomplete, so that reports count the emails instead.
      await world.deps.db('stale_groups').insert({ organization_id: office.org });
      await compareCohorts(t, office, raw, cohorts[0]!, false);
      await rebuildGroups(world.deps, office.org);
      t.is((await verifyFacts(world.deps, office.org))[0]!.total, 0);
      await compareCredits(t, office, raw, long, end);
      const acquired = expectedCustomers(office, raw)[0]?.at;
      if (acquired) await compareCredits(t, office, raw, acquired, end, standing);
      await compareProspects(t, office, raw);
      await compareFunnels(t, office, raw);
      await compareSpend(t, office);
      for (const personId of office.people) if (personId) await explainPerson(world.system(office.org), personId);
    }),
    { numRuns: Number(process.env.HERON_ACQUISITION_RUNS ?? 4) },
  );
});
