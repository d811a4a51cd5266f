import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { Pool } from 'undici';
import { clickUrl, openPixelUrl } from '../domain/mail/messages/tracking-urls.ts';
import { trackingToken } from '../domain/mail/messages/tracking-token.ts';
import { newId } from '../lib/ids.ts';
import { createCampaign, createMailbox, createTenant } from '../test/harness/factories.ts';
import { createSentLead } from '../test/harness/standing-leads.ts';
import type { BenchContext, BenchResult } from './context.ts';
import { median } from './measure.ts';
import { cpuOf, readTree } from './process-tree.ts';

const AT_ONCE = 64;
/** Number of fetches of one pixel within a minute. Only the first is recorded. */
const REPETITIONS = 50;
const BROWSER =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';
/**
 * Pause (ms) after a round, in which subscribers and reports process its events. The figure includes their processor
 * time.
 */
const SETTLE_MS = 4_000;

interface Round {
  perSecond: number;
  /** Processor time (ms) per fetch: of the tracking server, and of all processes. */
  serverMs: number;
  allMs: number;
}

/** Measures first and repeated opens, and clicks: requests per second, and processor time per request. */
export async function run(context: BenchContext): Promise<BenchResult> {
  const { assembly, stack, quick, log } = context;
  const emails = quick ? 200 : 2_000;
  const rounds = quick ? 1 : 3;
  const { deps } = assembly;
  const [first, repeated, clicked]: [Round[], Round[], Round[]] = [[], [], []];
  for (let n = 0; n < rounds; n += 1) {
    const { pixels, links } = await makeEmails(context, emails);
    first.push(await fetchAll(context, pixels));
    repeated.push(
      await fetchAll(
        context,
        pixels.slice(0, emails / 20).flatMap((pixel) => Array<string>(REPETITIONS).fill(pixel)),
      ),
    );
    clicked.push(await fetchAll(context, links));
    log(
      `first: ${describe(first.at(-1)!)}; repeated: ${describe(repeated.at(-1)!)}; clicks: ${describe(clicked.at(-1)!)}`,
    );
  }
  const counted = await deps.db('engagement_events').sum('times as times').first();
  const expected = rounds * (2 * emails + (emails / 20) * REPETITIONS);
  if (Number(counted!.times) !== expected)
    throw new Error(`${counted!.times} opens and clicks are counted, ${expected} expected`);
  const of = (all: readonly Round[], key: keyof Round) => median(all.map((round) => round[key]));
  const targets = [
    { what: 'processor time of all processes per first open', target: 1.5, got: of(first, 'allMs') },
    { what: 'processor time of all processes per repeated open', target: 0.5, got: of(repeated, 'allMs') },
    { what: 'processor time of all processes per first click', target: 1.5, got: of(clicked, 'allMs') },
  ];
  return {
    figures: [
      { label: `${emails} emails opened for the first time, ${AT_ONCE} at once`, value: describeMedian(first) },
      { label: `the same pixels again, ${REPETITIONS} times each`, value: describeMedian(repeated) },
      { label: `a link of each email, clicked once`, value: describeMedian(clicked) },
    ],
    targets: targets.map(({ what, target, got }) => ({
      what,
      target: `<= ${target} ms`,
      got: `${got.toFixed(2)} ms`,
      met: got <= target,
    })),
    raw: { first, repeated, clicked, tracking: stack.urls.tracking },
  };

  function describeMedian(all: readonly Round[]): string {
    return describe({
      perSecond: of(all, 'perSecond'),
      serverMs: of(all, 'serverMs'),
      allMs: of(all, 'allMs'),
    });
  }
}

function describe({ perSecond, serverMs, allMs }: Round): string {
  return `${perSecond.toFixed(0)}/s, ${serverMs.toFixed(2)} ms of the server, ${allMs.toFixed(2)} ms of all processes`;
}

/** Writes sent emails of one campaign. Returns the paths of their pixels, and of a link of each. */
async function makeEmails(
  { assembly, stack }: BenchContext,
  count: number,
): Promise<{ pixels: string[]; links: string[] }> {
  const { deps } = assembly;
  const { organizationId } = await createTenant(deps);
  const { campaignId, stepIds } = await createCampaign(deps, organizationId, [{ subject: 'Hi', body_plain: 'Hello' }]);
  const mailbox = { id: await createMailbox(deps, organizationId, 'ada@ours.test'), email: 'ada@ours.test' };
  const limit = pLimit(8);
  const leads = await Promise.all(
    Array.from({ length: count }, () =>
      limit(() => createSentLead(deps, organizationId, { campaignId, stepId: stepIds[0]!, mailbox })),
    ),
  );
  // Makes the emails older, because an open within seconds of the email would count as automatic.
  await deps
    .db('sends')
    .where({ campaign_id: campaignId })
    .update({ sent_at: new Date(Date.now() - 3_600_000) });
  const secret = deps.keyring.tracking.current;
  const links = leads.map(({ sendId }) => ({ id: newId(), send_id: sendId }));
  await deps.db.batchInsert(
    'tracked_links',
    links.map((link) => ({
      ...link,
      organization_id: organizationId,
      campaign_id: campaignId,
      step_id: stepIds[0],
      url: 'https://shop.example.com/',
      label: 'Shop',
      position: 1,
      created_at: new Date(),
    })),
  );
  const pathOf = (url: string) => new URL(url).pathname;
  return {
    pixels: leads.map(({ sendId }) => pathOf(openPixelUrl(stack.urls.tracking, trackingToken(secret, 'open', sendId)))),
    links: links.map(({ id }) => pathOf(clickUrl(stack.urls.tracking, id))),
  };
}

async function fetchAll({ stack }: BenchContext, paths: readonly string[]): Promise<Round> {
  const pool = new Pool(stack.urls.tracking, { connections: AT_ONCE });
  const { pid } = stack.processes.serve;
  const cpu = () => {
    const tree = readTree(process.pid).filter((each) => each.pid !== process.pid);
    return { server: cpuOf(tree.filter((each) => each.pid === pid)), all: cpuOf(tree) };
  };
  const before = cpu();
  const start = performance.now();
  const limit = pLimit(AT_ONCE);
  await Promise.all(
    paths.map((path) =>
      limit(async () => {
        const { statusCode, body } = await pool.request({ method: 'GET', path, headers: { 'user-agent': BROWSER } });
        await body.dump();
        if (statusCode !== 200 && statusCode !== 302) throw new Error(`${path} was answered ${statusCode}`);
      }),
    ),
  );
  const ms = performance.now() - start;
  await sleep(SETTLE_MS);
  const after = cpu();
  await pool.destroy();
  return {
    perSecond: (paths.length * 1_000) / ms,
    serverMs: ((after.server - before.server) * 1_000) / paths.length,
    allMs: ((after.all - before.all) * 1_000) / paths.length,
  };
}
