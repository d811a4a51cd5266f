import { setTimeout as sleep } from 'node:timers/promises';
import { json } from '../db/connection.ts';
import type { EventData } from '../domain/platform/kernel/event-payloads.ts';
import { systemCtx } from '../domain/platform/kernel/context.ts';
import { transact } from '../domain/platform/kernel/transact.ts';
import { sampleData } from '../domain/connect/triggers/vocabulary.ts';
import { newId } from '../lib/ids.ts';
import { act, ask, createAutomation, draw } from '../test/harness/automations.ts';
import { createContact, createTenant } from '../test/harness/factories.ts';
import type { BenchContext, BenchResult } from './context.ts';

const AUTOMATIONS = 50;
const TARGET_PER_SECOND = 1_000;
const LISTED = 50;

/**
 * Measures how many events per second one workspace with 50 automations processes. Each event is compared with all
 * filters and starts one automation, which has a condition, a tag and a notification. Then measures runs per second
 * when every automation accepts every event, and the cost of listing runs.
 */
export async function run({ assembly, quick, scale, log }: BenchContext): Promise<BenchResult> {
  const { deps } = assembly;
  const { db } = deps;
  const { organizationId: org } = await createTenant(deps);
  const ctx = systemCtx(deps, org, 'bench');
  const now = deps.clock.now();
  const tag = newId();
  const stamps = { created_at: now, updated_at: now };
  await db('labels').insert({
    id: tag,
    organization_id: org,
    registry: 'category',
    title: 'x',
    color: '#000000',
    position: 0,
    ...stamps,
  });
  const contacts: string[] = [];
  for (let n = 0; n < 200; n += 1) contacts.push(await createContact(db, now, org));
  const campaigns = Array.from({ length: AUTOMATIONS }, () => newId());
  const graph = draw(
    [
      ask('if', 'intent', 'eq', 'positive'),
      act('tag', 'add_tag', { category_id: tag }),
      act('tell', 'notify', { message: '{{ .subject }}' }),
      act('no', 'remove_tag', { category_id: tag }),
    ],
    ['trigger>if', 'if>tag:true', 'tag>tell', 'if>no:false'],
  );
  for (const id of campaigns)
    await createAutomation({ deps }, org, 'email.replied', graph, { filter: { campaign_ids: [id] } });
  const sample = sampleData('email.replied') as EventData<'campaign.reply_received'>;
  const play = async (events: number, runsEach: number): Promise<number> => {
    const before = await countRuns();
    const startedAt = performance.now();
    for (let from = 0; from < events; from += 500)
      await transact(ctx, async (tx) => {
        for (let n = from; n < Math.min(events, from + 500); n += 1)
          tx.emit('campaign.reply_received', {
            ...sample,
            contact_id: contacts[n % contacts.length]!,
            campaign_id: campaigns[n % AUTOMATIONS]!,
            intent: n % 3 === 0 ? 'negative' : 'positive',
          });
      });
    while ((await countRuns()) < before + events * runsEach) await sleep(50);
    return (performance.now() - startedAt) / 1000;
  };
  const countRuns = async () =>
    Number((await db('automation_runs').where({ organization_id: org }).count().first())!.count);

  const events = quick ? 2_000 : Math.round(30_000 * scale);
  const seconds = await play(events, 1);
  const perSecond = Math.round(events / seconds);
  log(`one of ${AUTOMATIONS} takes each: ${perSecond} events/s`);
  await db('automations').where({ organization_id: org }).update({ filter: '{}' });
  const all = quick ? 100 : Math.round(1_000 * scale);
  const allSeconds = await play(all, AUTOMATIONS);
  log(`all take each: ${Math.round((all * AUTOMATIONS) / allSeconds)} runs/s`);

  const ids: string[] = await db('automations').where({ organization_id: org }).orderBy('id').pluck('id');
  const automationId = ids[0]!;
  const rows = quick ? 10_000 : Math.round(200_000 * scale);
  await db.raw(
    `insert into automation_runs (id, organization_id, automation_id, cause, trigger_event, status, data, node_results, error_detail, hops, started_at, finished_at)
     select gen_random_uuid(), ?, (cast(? as uuid[]))[1 + n % ${AUTOMATIONS}], 'event/' || n, 'email.replied', 'success', '{}', ?, null, 0, now(), now() from generate_series(1, ?::int) n`,
    [org, ids, json([]), rows],
  );
  await db.raw('analyze automation_runs');
  const explained = await db.raw(
    `explain (analyze, buffers) select id, node_results from automation_runs where organization_id = ? and automation_id = ? order by id desc limit ${LISTED}`,
    [org, automationId],
  );
  const plan = (explained.rows as Record<string, string>[]).map((row) => row['QUERY PLAN']!);
  const ms = /Execution Time: ([\d.]+) ms/.exec(plan.join('\n'))?.[1] ?? '?';
  const byIndex = plan.some((line) => line.includes('automation_runs_newest'));
  return {
    figures: [
      {
        label: `${events} events, each taken by one of ${AUTOMATIONS} automations`,
        value: `${perSecond} events/s (${seconds.toFixed(1)} s)`,
      },
      {
        label: `${all} events, each taken by all ${AUTOMATIONS}`,
        value: `${Math.round((all * AUTOMATIONS) / allSeconds)} runs/s (${Math.round(all / allSeconds)} events/s)`,
      },
      { label: `the newest ${LISTED} runs of one of ${AUTOMATIONS} automations, of ${rows}`, value: `${ms} ms` },
    ],
    targets: [
      {
        what: `events/s through ${AUTOMATIONS} automations of one workspace`,
        target: `${TARGET_PER_SECOND}/s`,
        got: `${perSecond}/s`,
        met: perSecond >= TARGET_PER_SECOND,
      },
      { what: 'the list of runs is read by its index', target: 'yes', got: byIndex ? 'yes' : 'no', met: byIndex },
    ],
    raw: { plan },
  };
}
