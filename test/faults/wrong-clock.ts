import { setTimeout as sleep } from 'node:timers/promises';
import { readiness } from '../../domain/operations/system/readiness.ts';
import { systemCtx } from '../../domain/platform/kernel/context.ts';
import type { TestAssembly } from '../harness/database.ts';
import { eventually } from '../harness/eventually.ts';
import { startMailWorld } from '../harness/mail.ts';
import { CAMPAIGN_SETTINGS, onInstallation, type Kept } from './installation.ts';
import { startOutside, type Outside } from './outside.ts';
import type { Parts } from './parts.ts';
import { seeded } from './random.ts';
import type { Check } from './reconcile.ts';
import { launch, prepare, type Scenario } from './scenario.ts';

interface WrongClock {
  seed: number;
  contacts: number;
  /** Time (ms) for which the clock of one of two workers is an hour ahead. */
  aheadMs: number;
  /** Time (ms) after which unfinished contacts are abandoned. */
  settleMs: number;
  log: (line: string) => void;
}

/**
 * Columns whose times a wrong clock would put an hour ahead. In this campaign all these times lie within a few minutes.
 */
const MOMENTS = {
  sends: ['slot_at', 'claimed_at', 'sent_at'],
  enrollments: ['step_started_at', 'waiting_until', 'last_activity_at'],
  waits: ['opened_at', 'deadline'],
  step_runs: ['started_at', 'completed_at'],
  campaigns: ['updated_at'],
} as const;

/**
 * Sets the clock of one of two workers an hour ahead in the middle of a campaign, and then corrects it. Checks that
 * readiness reports it in the meantime, that no stored time is an hour ahead, and that the campaign ends.
 */
export async function runWrongClock(options: WrongClock): Promise<{ checks: Check[] } & Kept> {
  const mail = await startMailWorld();
  const outside = await startOutside(mail);
  const furtherEnv = async () => ({ NODE_OPTIONS: `--import ${new URL('shift-clock.mjs', import.meta.url).href}` });
  try {
    return await onInstallation(
      { workers: 2, env: CAMPAIGN_SETTINGS, furtherEnv, log: options.log },
      async (parts, assembly) => {
        const random = seeded(options.seed).fork('people');
        const scope = { contacts: options.contacts, mailboxes: 4, slow: false, replies: false };
        const scenario = await prepare(assembly, mail, outside, random, scope);
        return { checks: await play(options, { parts, assembly, outside, scenario }) };
      },
    );
  } finally {
    await outside.stop();
    await mail.stop();
  }
}

async function play(
  { aheadMs, settleMs, log }: WrongClock,
  {
    parts,
    assembly,
    outside,
    scenario,
  }: { parts: Parts; assembly: TestAssembly; outside: Outside; scenario: Scenario },
): Promise<Check[]> {
  const { deps } = assembly;
  const ctx = systemCtx(deps, scenario.tenant.organizationId, 'faults');
  const clocks = async () => (await readiness(ctx)).checks.find(({ name }) => name === 'clocks')!.ok;
  const worker = parts.workers[1]!.pid!;
  outside.bringToLife(scenario.people, { url: parts.apiUrl, key: scenario.tenant.apiKey });
  await launch(assembly, scenario);
  await eventually(async () => (await deps.db('sends').where({ state: 'sent' }).select('id')).length >= 3);
  process.kill(worker, 'SIGUSR2');
  log('the clock of the second worker is an hour ahead');
  const isNamed = await eventually(async () => !(await clocks()), 20_000).catch(() => false);
  await sleep(aheadMs);
  process.kill(worker, 'SIGUSR2');
  log('the clock is right again');
  const isRight = await eventually(clocks, 20_000).catch(() => false);
  const open = () => deps.db('enrollments').whereIn('state', ['pending', 'active']).first('id');
  await eventually(async () => !(await open()), settleMs, 250).catch(() => {});
  const left = await deps.db('enrollments').whereIn('state', ['pending', 'active']).select('id', 'state');
  return [
    {
      name: 'no stored moment is an hour ahead',
      seen: `${Object.values(MOMENTS).flat().length} columns`,
      faults: await momentsAhead(assembly),
    },
    {
      name: 'readiness names the wrong clock, and not the right one',
      seen: `${isNamed}, ${isRight}`,
      faults: [...(isNamed ? [] : ['it did not name the clock']), ...(isRight ? [] : ['it still names the clock'])],
    },
    {
      name: 'every contact ends',
      seen: `${left.length} open`,
      faults: left.map(({ id, state }) => `${id} is ${state}`),
    },
    { name: 'no process ended by itself', seen: `${parts.deaths.length} ends`, faults: parts.deaths },
  ];
}

async function momentsAhead({ deps }: TestAssembly): Promise<string[]> {
  const faults: string[] = [];
  for (const [table, columns] of Object.entries(MOMENTS))
    for (const column of columns) {
      const rows = await deps.db(table).where(column, '>', deps.db.raw(`now() + interval '20 minutes'`)).select('id');
      if (rows.length > 0) faults.push(`${rows.length} of ${table}.${column}`);
    }
  return faults;
}
