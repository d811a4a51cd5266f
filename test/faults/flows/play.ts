import { utcDay } from '../../../lib/clock.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { countDaily } from '../../../domain/sending/campaign/counters.ts';

import { systemCtx } from '../../../domain/platform/kernel/context.ts';
import { transact } from '../../../domain/platform/kernel/transact.ts';
import { insertMails } from '../../../domain/mailboxes/warmup/plan.ts';
import { newId } from '../../../lib/ids.ts';
import type { Said } from './client.ts';
import type { Flow } from './plan.ts';
import { patiently, type Game } from './game.ts';
import { playOrder, playRenewal } from './play-orders.ts';
import { addressesOf, EVENT_NAME, runBody, TEST_WAIT_SECONDS } from './stage.ts';

const POLL_MS = 150;
/** Times (ms after its start) of additional emails of a warmup flow. */
const WARMUP_DUE_MS = [1_500, 2_500, 3_500, 7_000, 8_000];
const PAUSE_AFTER_MS = 4_500;
const RESUME_AFTER_MS = 6_000;

/** Plays all flows of a round at their times, until the last request was answered. */
export async function playFlows(game: Game): Promise<void> {
  await Promise.all(
    game.flows.map(async (flow) => {
      await sleep(flow.startAfterMs);
      await play(game, flow);
    }),
  );
}

/** Reports that a flow has reached a state, to actors that wait for it. */
export function onStep(game: Game, marker: string, state: string): void {
  const flow = game.flows.find((one) => one.marker === marker);
  if (!flow) return;
  const after = (ms: number, work: () => Promise<void>): void => void game.doing.push(sleep(ms).then(work));
  if (flow.cancel?.state === state && !game.acts.some((act) => act.marker === marker && act.what === 'cancel')) {
    const { afterMs } = flow.cancel;
    delete flow.cancel;
    after(afterMs, () => cancel(game, flow));
  }
  if (flow.kind === 'test' && flow.event && state === 'test_run_steps wait_for_event waiting')
    after(300, async () => {
      await game.client.ask('POST', '/events', game.workspace.tenant.apiKey, {
        name: EVENT_NAME,
        email: addressesOf(flow)[0],
        data: { paid: flow.marker },
      });
    });
}

async function play(game: Game, flow: Flow): Promise<void> {
  switch (flow.kind) {
    case 'run':
      return playRun(game, flow);
    case 'direct':
      return playDirect(game, flow);
    case 'test':
      return playTest(game, flow);
    case 'warmup':
      return playWarmup(game, flow);
    case 'order':
      return playOrder(game, flow);
    case 'renewal':
      return playRenewal(game, flow);
  }
}

function tokenOf({ workspace }: Game, { caller }: Flow): string {
  if (caller === 'allowed') return workspace.allowedKey.apiKey;
  return caller === 'asks' ? workspace.tenant.apiKey : workspace.people[0];
}

async function playRun(game: Game, flow: Flow): Promise<void> {
  const made = await insist(game, 'POST', '/runs', tokenOf(game, flow), runBody(flow, game.workspace), 202);
  game.ids.set(flow.marker, made.answer.id);
  if (flow.caller !== 'asks' || flow.draft) return;
  const approvalId = await approvalOf(game, made.answer.id);
  if (approvalId) await decide(game, flow, approvalId);
}

async function playDirect(game: Game, flow: Flow): Promise<void> {
  const { senderIds } = game.workspace;
  const body = {
    email_account_id: senderIds[flow.edgeMs & 3],
    to: addressesOf(flow),
    subject: flow.marker,
    body_plain: 'Hello',
  };
  const later = () => ({ send_mode: 'scheduled', scheduled_at: new Date(Date.now() + 4_000).toISOString() });
  const compose = () =>
    game.client.ask('POST', '/unibox/compose', tokenOf(game, flow), flow.scheduled ? { ...body, ...later() } : body);
  let made = await compose();
  // The scheduled time passed while the installation was unreachable, so the request is repeated with a later time.
  while (made.status === 400 && made.answer.problems[0].path === 'body.scheduled_at') made = await compose();
  if (made.status !== 200) throw new Error(`${flow.marker}: ${made.status} ${JSON.stringify(made.answer)}`);
  game.ids.set(flow.marker, made.answer.task_id);
  if (made.answer.approval_id) await decide(game, flow, made.answer.approval_id);
}

async function playTest(game: Game, flow: Flow): Promise<void> {
  const { campaignId } = game.workspace.testCampaigns.get(flow.marker)!;
  const body = { prospect_email: addressesOf(flow)[0], max_wait_seconds: TEST_WAIT_SECONDS };
  const { tenant } = game.workspace;
  const made = await insist(game, 'POST', `/campaigns/${campaignId}/test`, tenant.apiKey, body, 202);
  game.ids.set(flow.marker, made.answer.id);
}

async function playWarmup(game: Game, flow: Flow): Promise<void> {
  const { warmupIds, people } = game.workspace;
  const id = warmupIds.get(flow.marker)!;
  const act = (action: string) => game.client.ask('POST', `/emails/${id}/warmup/${action}`, people[0]);
  const begun = Date.now();
  await act('start');
  await giveMails(game, id, (at) => at < PAUSE_AFTER_MS);
  game.ids.set(flow.marker, id);
  await sleep(Math.max(0, begun + PAUSE_AFTER_MS - Date.now()));
  await act('pause');
  await sleep(Math.max(0, begun + RESUME_AFTER_MS - Date.now()));
  await act('resume');
  await giveMails(game, id, (at) => at > RESUME_AFTER_MS);
}

/** Inserts warmup emails that are due shortly, from a mailbox to the next mailbox of the round. */
async function giveMails(
  { assembly: { deps }, workspace: { tenant, warmupIds } }: Game,
  mailboxId: string,
  which: (dueMs: number) => boolean,
): Promise<void> {
  const all = [...warmupIds.values()];
  const partnerId = all[(all.indexOf(mailboxId) + 1) % all.length]!;
  const ctx = systemCtx(deps, tenant.organizationId, 'faults');
  const now = Date.now();
  const first = WARMUP_DUE_MS.filter(which)[0]!;
  const slots = WARMUP_DUE_MS.filter(which).map((due) => now + 1_500 + due - first);
  await patiently(() =>
    transact(ctx, async (tx) => {
      const [mailbox] = await tx.org.sql(
        'select 1 from mailboxes where organization_id = :org and id = :id and warmup is not null and warmup_paused_at is null for update',
        { id: mailboxId },
      );
      if (!mailbox) return;
      await insertMails(
        tx,
        slots.map((at) => ({
          id: newId(),
          mailbox_id: mailboxId,
          partner_id: partnerId,
          answers: null,
          slot_at: new Date(at),
        })),
      );
      await countDaily(
        tx.org,
        slots.map((at) => ({ scope: 'mailbox', scopeId: mailboxId, day: utcDay(at), by: 1 })),
      );
    }),
  );
}

/** Stops the warmup of every mailbox of the round. */
export async function stopWarmups({ client, workspace: { people, warmupIds } }: Game): Promise<void> {
  for (const id of warmupIds.values()) await client.ask('POST', `/emails/${id}/warmup/stop`, people[0]);
}

/** Returns the approval that a run waits for; undefined if the run ended before. */
async function approvalOf(game: Game, runId: string): Promise<string | undefined> {
  for (;;) {
    const { answer } = await game.client.ask('GET', `/runs/${runId}`, game.workspace.people[0]);
    if (answer.state === 'awaiting_approval') return answer.approval_url.split('/').at(-1);
    if (answer.state !== 'queued' && answer.state !== 'preflighting') return undefined;
    await sleep(POLL_MS);
  }
}

async function decide(game: Game, flow: Flow, approvalId: string): Promise<void> {
  const { people } = game.workspace;
  const say = async (what: 'approve' | 'deny', token: string): Promise<void> => {
    const body = { decision: what === 'approve' ? 'approved' : 'denied' };
    const said = await game.client.ask('POST', `/approvals/${approvalId}/decision`, token, body);
    game.acts.push({ marker: flow.marker, what, said });
  };
  switch (flow.decision) {
    case 'none':
      return;
    case 'both':
      await Promise.all([say('approve', people[0]), say('deny', people[1])]);
      return;
    case 'edge': {
      const { db } = game.assembly.deps;
      const row = await patiently(() => db('approvals').where({ id: approvalId }).first('expires_at'));
      await sleep(Math.max(0, row.expires_at.getTime() + flow.edgeMs - Date.now()));
      return say('approve', people[0]);
    }
    default:
      // Pauses long enough for the observer to see the waiting state.
      await sleep(400);
      return say(flow.decision, people[0]);
  }
}

/** Cancels a flow as soon as the id of its row is known. */
async function cancel(game: Game, flow: Flow): Promise<void> {
  const { people, testCampaigns, warmupIds } = game.workspace;
  let id = flow.kind === 'warmup' ? warmupIds.get(flow.marker) : game.ids.get(flow.marker);
  while (!id) {
    await sleep(20);
    id = game.ids.get(flow.marker);
  }
  const [method, path] = {
    run: ['POST', `/runs/${id}/cancel`],
    direct: ['DELETE', `/unibox/scheduled/${id}`],
    test: ['POST', `/campaigns/${testCampaigns.get(flow.marker)?.campaignId}/test-runs/${id}/cancel`],
    warmup: ['POST', `/emails/${id}/warmup/stop`],
    order: ['POST', `/mailbox-provisioning/${id}/cancel`],
    renewal: ['POST', `/mailbox-provisioning/${id}/cancel`],
  }[flow.kind] as [string, string];
  const owner = game.orders.find(({ marker }) => marker === flow.marker)?.tenant.sessionToken ?? people[0];
  game.acts.push({ marker: flow.marker, what: 'cancel', said: await game.client.ask(method, path, owner) });
}

async function insist(
  { client }: Game,
  method: string,
  path: string,
  token: string,
  body: unknown,
  wanted: number,
): Promise<Said> {
  const said = await client.ask(method, path, token, body);
  if (said.status !== wanted) throw new Error(`${method} ${path}: ${said.status} ${JSON.stringify(said.answer)}`);
  return said;
}
