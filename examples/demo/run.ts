import { allOf, dataOf } from '../../client/src/index.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';
import type { DemoApp } from './app.ts';
import type { Result } from './chapter.ts';
import { CHECKS, type Facts } from './check.ts';
import { runAgent } from './agent.ts';
import { startDiary } from './diary.ts';
import { runIntegrations, type Tools } from './integrations.ts';
import { bringToLife } from './life.ts';
import { cast, ROLES } from './people.ts';
import { openRecord } from './record.ts';
import { runOrder } from './orders.ts';
import { prepare, type Prepared } from './setup.ts';
import type { Shop } from './shop.ts';
import { summarize } from './summary.ts';
import { stepTable } from './tally.ts';
import { runTrouble } from './trouble.ts';
import { clock, createScreen, createWatch, follow, isThrough, type View } from './watch.ts';
import type { World } from './world.ts';

export interface RunOptions {
  apiUrl: string;
  databaseUrl: string;
  sessionToken: string;
  /** The person of that session, as they sign in. */
  owner: { email: string; password: string };
  world: World;
  app: DemoApp;
  tools: Tools;
  shop: Shop;
  leads: number;
  /** Errors that Heron's processes have logged so far. */
  complaints: readonly string[];
  say: (line: string) => void;
  signal: AbortSignal;
}

/** How the demo ended. */
export interface Outcome {
  passed: boolean;
  prepared: Prepared;
}

/** A campaign that has not finished by then is presumed stuck; the checks say where. */
const LIMIT_MS = 6 * 60_000;
/** What the last letters cause (a click is counted once it is no burst) shows within this time. */
const SETTLE_MS = 20_000;
/** Differences shown per check. */
const SHOWN = 5;

/** The demo on a running Heron: prepare, start, watch, reckon. */
export async function runDemo(options: RunOptions): Promise<Outcome> {
  const { world, app, say, signal } = options;
  const prepared = await prepare(options);
  const { api, campaignId, addresses, job } = prepared;
  const people = cast(addresses);
  for (const role of ROLES)
    say(`  ${String([...people.values()].filter((person) => person.role === role).length).padStart(3)} ${role.name}`);

  const diary = startDiary();
  const life = bringToLife(people, world, api, diary);
  const record = openRecord(options.databaseUrl);
  try {
    const started = performance.now();
    await dataOf(api.POST('/v1/campaigns/{id}/start', { params: { path: { id: campaignId } }, body: {} }));
    say('campaign started');
    const watch = createWatch(api, campaignId, record);
    const done = ({ leads }: View): boolean => leads.every(isThrough) && life.pending === 0;
    await follow({ watch, screen: createScreen(process.stdout), diary, done, limitMs: LIMIT_MS, signal });
    const took = performance.now() - started;

    const gather = async (): Promise<Facts> => ({
      ...(await watch.look()),
      people,
      diary,
      letters: world.letters,
      strangers: world.strangers,
      app,
      job,
      complaints: options.complaints,
      leftSeenAt: watch.leftSeenAt,
      suppressed: await allOf((cursor) => api.GET('/v1/suppressions', { params: { query: { limit: 200, cursor } } })),
      events: await allOf((cursor) => api.GET('/v1/events', { params: { query: { limit: 200, cursor } } })),
    });
    const facts = await settled(gather, signal);
    report(facts, took);
    const isSound = CHECKS.every(([, differences]) => differences(facts).length === 0);
    const logged = options.complaints.length;
    // The next chapters write letters of their own.
    const written = countLetters(facts);
    const results: Result[] = [];
    const chapter = async (title: string, play: () => Promise<Result[]>): Promise<void> => {
      write();
      say(title);
      const found = await play();
      write();
      for (const [name, differences] of found) tell(name, differences);
      results.push(...found);
    };
    await chapter('Chapter two: a bad day.', () => runTrouble(prepared, world, say, signal));
    await chapter('Chapter three: an agent.', () => runAgent(prepared, options, world, say, signal));
    await chapter('Chapter four: a meeting.', () => runIntegrations(prepared, options.tools, say, signal));
    await chapter('Chapter five: a mailbox is bought.', () => runOrder(options, world, say, signal));
    await chapter('What the campaign led to:', () => summarize(options, { campaignId, ...written }, say));
    // An absent mail server may be logged as an error; it is shown, and does not count as a fault.
    for (const complaint of options.complaints.slice(logged)) write(`        logged: ${complaint}`);
    return { prepared, passed: isSound && results.every(([, differences]) => differences.length === 0) };
  } finally {
    life.stop();
    await record.close();
  }
}

function countLetters({ letters }: Facts): { letters: number; people: number } {
  return { letters: letters.length, people: new Set(letters.map(({ to }) => to)).size };
}

/** Looks until nothing differs any more, or for {@link SETTLE_MS}. */
async function settled(gather: () => Promise<Facts>, signal: AbortSignal): Promise<Facts> {
  const deadline = Date.now() + SETTLE_MS;
  for (;;) {
    const facts = await gather();
    if (Date.now() > deadline || CHECKS.every(([, differences]) => differences(facts).length === 0)) return facts;
    await sleep(500, undefined, { signal });
  }
}

function report(facts: Facts, took: number): void {
  write();
  for (const line of stepTable(facts.record)) write(`  ${line}`);
  write();
  write(`  ${facts.letters.length} letters to ${facts.people.size} people in ${clock(took)} after set-up`);
  write();
  for (const [name, compare] of CHECKS) tell(name, compare(facts));
}

/** A line per comparison, and the first of its differences below it. */
function tell(name: string, differences: readonly string[]): void {
  write(`  ${differences.length === 0 ? colored('green', 'PASS') : colored('red', 'FAIL')}  ${name}`);
  for (const difference of differences.slice(0, SHOWN)) write(`          ${difference}`);
  if (differences.length > SHOWN) write(`          and ${differences.length - SHOWN} more`);
}

function write(line = ''): void {
  process.stdout.write(`${line}\n`);
}

function colored(color: 'green' | 'red', text: string): string {
  return process.stdout.isTTY && !process.env.NO_COLOR ? styleText(color, text) : text;
}
