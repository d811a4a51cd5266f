import { setTimeout as sleep } from 'node:timers/promises';
import type { EventData } from '../../domain/platform/kernel/event-payloads.ts';
import { systemCtx } from '../../domain/platform/kernel/context.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { sampleData } from '../../domain/connect/triggers/vocabulary.ts';
import { startDoubles } from '../doubles/all.ts';
import type { Fault } from '../doubles/index.ts';
import { startReceiver } from '../harness/receiver.ts';
import { onInstallation, type Kept } from './installation.ts';
import { compareIntegrations, installWriteRecord, isSettled } from './integration-books.ts';
import {
  CONTACTS,
  PROVIDERS,
  prepareWorkspace,
  type IntegrationFaultOptions,
  type IntegrationStage,
} from './integration-stage.ts';
import type { Part } from './parts.ts';
import { seeded, type Random } from './random.ts';
import type { Check } from './reconcile.ts';

interface IntegrationFaultReport extends Kept {
  checks: Check[];
  kills: number;
  events: number;
  tookMs: number;
}

const WORKSPACES = 2;
/** Average interval (ms) between misbehaviours of a provider. */
const MISDEED_MS = 4_000;

const SETTINGS: Record<string, string> = {
  NODE_ENV: 'test',
  LOG_LEVEL: 'info',
  ALLOW_UNSAFE_WEBHOOK_URLS: 'true',
  INTEGRATION_RETRY_BASE_MS: '500',
  // A dead worker's deliveries are due again after 26 seconds.
  INTEGRATION_TIMEOUT_MS: '3000',
};

/**
 * Emits replies, which five providers, a customer's app and automations of two workspaces handle. Kills workers and
 * Temporal in the meantime, waits until all work settles, and compares the stubs' records with the emitted events.
 */
export async function runIntegrationFaults(options: IntegrationFaultOptions): Promise<IntegrationFaultReport> {
  const random = seeded(options.seed);
  const doubles = await startDoubles(PROVIDERS);
  const app = await startReceiver({ respond: appAnswers(random.fork('app'), options.appFails) });
  try {
    return await onInstallation(
      { workers: options.workers, env: { ...SETTINGS, ...doubles.env }, log: options.log },
      async (parts, assembly) => {
        const stage: IntegrationStage = {
          options,
          random,
          parts,
          assembly,
          doubles,
          app,
          workspaces: [],
          emitted: new Map(),
          lost: 0,
          reconnected: 0,
        };
        const startedAt = performance.now();
        await installWriteRecord(assembly.deps.db);
        for (let n = 0; n < WORKSPACES; n += 1) await prepareWorkspace(stage, n);
        const people = new AbortController();
        const watching = reconnect(stage, people.signal);
        await play(stage);
        await settle(stage);
        people.abort();
        await watching;
        const checks = await compareIntegrations(stage);
        const events = [...stage.emitted.values()].flat().length;
        return { checks, kills: options.kills, events, tookMs: performance.now() - startedAt };
      },
    );
  } finally {
    await app.stop();
    await doubles.closeAll();
  }
}

/** Returns the app's answers: short delays, and some first-time failures. */
function appAnswers(random: Random, fails: number): () => { status: number; delayMs: number; body: object } {
  return () => ({
    status: random.next() < fails ? 503 : 200,
    delayMs: Math.round(random.between(1, 200)),
    body: {},
  });
}

async function play(stage: IntegrationStage): Promise<void> {
  const { options, random, emitted } = stage;
  let playing = true;
  const emit = async (): Promise<void> => {
    const draws = random.fork('events');
    while (playing) {
      const at = Math.floor(draws.next() * stage.workspaces.length);
      await emitReply(stage, at, Math.floor(draws.next() * CONTACTS));
      await sleep((1_000 / options.rate) * draws.between(0.5, 1.5));
    }
  };
  const misbehave = async (): Promise<void> => {
    const draws = random.fork('misdeeds');
    while (playing) {
      await sleep(MISDEED_MS * draws.between(0.5, 1.5));
      const kind = draws.pick(['broken', 'reset', 'lost', 'limited'] as const);
      const fault: Fault = kind === 'limited' ? { kind, retryAfterSeconds: 1 } : { kind };
      if (kind === 'lost') stage.lost += 1;
      stage.doubles[draws.pick(PROVIDERS)].fail(fault);
    }
  };
  const kill = async (): Promise<void> => {
    const comingBack = await killParts(stage).finally(() => (playing = false));
    await Promise.all(comingBack);
  };
  await Promise.all([emit(), misbehave(), kill()]);
  options.log(`no more kills; ${[...emitted.values()].flat().length} events were emitted`);
}

/** Emits the event of a contact's reply. Its subject identifies the reply in the records of the stubs. */
async function emitReply(
  { assembly: { deps }, workspaces, emitted }: IntegrationStage,
  workspace: number,
  contact: number,
): Promise<void> {
  const { organizationId, contacts } = workspaces[workspace]!;
  const names = emitted.get(contacts[contact]!)!;
  const name = `w${workspace}c${contact}n${names.length}`;
  const sample = sampleData('email.replied') as EventData<'campaign.reply_received'>;
  await transact(systemCtx(deps, organizationId, 'faults'), async (tx) =>
    tx.emit('campaign.reply_received', {
      ...sample,
      contact_id: contacts[contact]!,
      campaign_id: null,
      subject: name,
    } as EventData<'campaign.reply_received'>),
  );
  names.push(name);
}

/** Kills one process after the other without waiting for its restart. @returns the restarts */
async function killParts({ options, random, parts, emitted }: IntegrationStage): Promise<Promise<void>[]> {
  const draws = random.fork('kills');
  const comingBack: Promise<void>[] = [];
  for (let n = 1; n <= options.kills; n += 1) {
    await sleep(draws.between(options.pauseMs * 0.5, options.pauseMs * 1.5));
    const draw = (): Part => (n % 4 === 0 ? parts.temporal : draws.pick(parts.workers));
    let victim = draw();
    while (victim.pid === undefined) {
      await sleep(50);
      victim = draw();
    }
    await victim.kill();
    const downMs = Math.round(draws.between(50, 1_500));
    const events = [...emitted.values()].flat().length;
    options.log(`kill ${n}: ${victim.name}, down ${downMs} ms at least; ${events} events so far`);
    comingBack.push(sleep(downMs).then(() => victim.restart()));
  }
  return comingBack;
}

/**
 * Reconnects Slack as the workspace's person whenever Heron requires it. A worker that dies with new tokens, or a lost
 * answer, loses the only valid refresh token.
 */
async function reconnect(stage: IntegrationStage, signal: AbortSignal): Promise<void> {
  const { db } = stage.assembly.deps;
  while (!signal.aborted) {
    await sleep(1_000);
    for (const { organizationId, consent } of stage.workspaces) {
      const [ended] = await db('integration_connections')
        .where({ organization_id: organizationId, status: 'reauth_required' })
        .select('id');
      if (!ended) continue;
      try {
        await consent(ended.id);
        stage.reconnected += 1;
      } catch {
        // The stub refused the consent, which is repeated later.
      }
    }
  }
}

/** Waits until no work remains. The comparison finds work that is unfinished then. */
async function settle(stage: IntegrationStage): Promise<void> {
  const deadline = performance.now() + stage.options.settleMs;
  while (performance.now() < deadline && !(await isSettled(stage))) await sleep(500);
}
