import { allOf, dataOf } from '../../client/src/index.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DemoApp } from './app.ts';
import { CHAPTERS, type Chapter, type Told } from './chapters.ts';
import type { Result } from './chapter.ts';
import { CHECKS, type Facts } from './check.ts';
import { READERS, runAgent } from './agent.ts';
import { WAIT_STEP } from './campaign.ts';
import { startDiary } from './diary.ts';
import { runIntegrations, type Tools } from './integrations.ts';
import { bringToLife } from './life.ts';
import { ROLES } from './people.ts';
import { openRecord } from './record.ts';
import { READER, runOrder } from './orders.ts';
import { prepare, type Prepared } from './setup.ts';
import type { Shop } from './shop.ts';
import type { Size } from './size.ts';
import type { StepList } from './steps.ts';
import { summarize } from './summary.ts';
import { stepTable } from './tally.ts';
import { runTrouble } from './trouble.ts';
import { createWatch, follow, isThrough, toProgress, type View } from './watch.ts';
import type { World } from './world.ts';

interface RunOptions {
  apiUrl: string;
  databaseUrl: string;
  sessionToken: string;
  /** Credentials of the person to whom the session belongs. */
  owner: { email: string; password: string };
  world: World;
  app: DemoApp;
  tools: Tools;
  shop: Shop;
  size: Size;
  /** Errors that Heron's processes have logged so far. */
  complaints: readonly string[];
  steps: StepList;
  signal: AbortSignal;
}

/** Result of the demo. */
export interface Outcome {
  told: Told;
  prepared: Prepared;
  /** Lines of a table with the campaign's numbers per step. */
  table: string[];
}

/** Time (ms) after which an unfinished campaign is presumed stuck. The checks then show the reason. */
const LIMIT_MS = 6 * 60_000;
/**
 * Time (ms) within which the effects of the last emails must appear. For example, a click is counted only after a check
 * for bursts of clicks.
 */
const SETTLE_MS = 20_000;

/**
 * Runs the demo on a running Heron: prepares the campaign, starts it, follows it, and compares the records. Other
 * chapters run while the campaign's readers wait, or after its end if they share its mailboxes.
 */
export async function runDemo(options: RunOptions): Promise<Outcome> {
  const { world, tools, size, steps } = options;
  const told: Told = {};
  const setUp = steps.begin('A workspace: mailboxes, an app, contacts, a campaign');
  const prepared = await prepare({ ...options, say: setUp.say });
  setUp.end();

  // Ends the other chapters when one fails.
  const failure = new AbortController();
  const signal = AbortSignal.any([options.signal, failure.signal]);
  const chapter = async (name: Chapter, play: (say: (line: string) => void) => Promise<Result[]>): Promise<void> => {
    const step = steps.begin(CHAPTERS[name].title);
    told[name] = await play(step.say);
    step.end();
  };
  let table: string[] = [];
  let isQuiet = (): void => undefined;
  const quiet = new Promise<void>((resolve) => (isQuiet = resolve));

  const campaign = async (): Promise<void> => {
    const step = steps.begin(CHAPTERS.campaign.title);
    const facts = await runCampaign({ ...options, signal }, prepared, {
      say: step.say,
      onView: (view, isOver) => {
        step.progress(toProgress(view));
        if (isOver || (size.ownOfTrouble > 0 && isWaiting(view, prepared))) isQuiet();
      },
    });
    isQuiet();
    told.campaign = CHECKS.map(([name, differences]) => [name, differences(facts)]);
    table = [...stepTable(facts.record), '', `${facts.emails.length} emails to ${facts.people.size} people`];
    step.end();
    const emails = { emails: facts.emails.length, people: new Set(facts.emails.map(({ to }) => to)).size };
    await chapter('summary', (say) => summarize(options, { campaignId: prepared.campaignId, ...emails }, say));
  };
  const others = async (): Promise<void> => {
    await quiet;
    await chapter('trouble', (say) => runTrouble(prepared, world, say, signal));
    await chapter('agent', (say) => runAgent(prepared, options, world, say, signal));
    await chapter('integrations', (say) => runIntegrations(prepared, tools, say, signal));
    await chapter('order', (say) => runOrder(options, world, say, signal));
  };
  const end = (error: unknown): never => {
    failure.abort(error);
    // Also ends the wait of chapters that wait for the end of the campaign.
    isQuiet();
    throw error;
  };
  await Promise.all([campaign().catch(end), others().catch(end)]);
  return { told, prepared, table };
}

/** Returns true once all leads have finished or wait for the timeout. */
function isWaiting({ leads }: View, { people }: Prepared): boolean {
  return leads.every(
    (lead) =>
      isThrough(lead) ||
      (lead.current_step === WAIT_STEP &&
        lead.waiting_for !== null &&
        people.get(lead.contact.email)?.role.wait === 'timed_out'),
  );
}

async function runCampaign(
  { world, app, databaseUrl, complaints, signal, size }: RunOptions,
  { api, campaignId, people, job, readers }: Prepared,
  { say, onView }: { say: (line: string) => void; onView: (view: View, isOver: boolean) => void },
): Promise<Facts> {
  const counts = ROLES.map(
    ({ name }) => `${[...people.values()].filter(({ role }) => role.name === name).length} ${name}`,
  );
  say(`${people.size} people: ${counts.join(', ')}`);
  const diary = startDiary();
  const life = bringToLife(people, { world, api, diary, campaignId, pace: size.pace });
  const record = openRecord(databaseUrl);
  // Addresses of the other chapters' recipients. Emails to all other addresses belong to the campaign.
  const elsewhere = new Set([...READERS, READER, ...readers.map(({ email }) => email)]);
  try {
    await dataOf(api.POST('/v1/campaigns/{id}/start', { params: { path: { id: campaignId } }, body: {} }));
    const watch = createWatch(api, campaignId, record);
    const done = ({ leads }: View): boolean => leads.every(isThrough) && life.pending === 0;
    await follow({
      watch,
      onView: (view) => onView(view, done(view)),
      done,
      limitMs: LIMIT_MS,
      signal,
    });

    const gather = async (): Promise<Facts> => ({
      ...(await watch.look()),
      people,
      diary,
      emails: world.emails.filter(({ to }) => !elsewhere.has(to)),
      strangers: world.strangers,
      app,
      job,
      complaints,
      leftSeenAt: watch.leftSeenAt,
      suppressed: (
        await allOf((cursor) => api.GET('/v1/suppressions', { params: { query: { limit: 200, cursor } } }))
      ).filter(({ email }) => !elsewhere.has(email)),
      events: await allOf((cursor) => api.GET('/v1/events', { params: { query: { limit: 200, cursor } } })),
    });
    return await settled(gather, signal);
  } finally {
    life.stop();
    await record.close();
  }
}

/** Polls until the checks find no differences, at most for {@link SETTLE_MS}. */
async function settled(gather: () => Promise<Facts>, signal: AbortSignal): Promise<Facts> {
  const deadline = Date.now() + SETTLE_MS;
  for (;;) {
    const facts = await gather();
    if (Date.now() > deadline || CHECKS.every(([, differences]) => differences(facts).length === 0)) return facts;
    await sleep(500, undefined, { signal });
  }
}
