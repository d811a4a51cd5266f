import type { Random } from '../random.ts';

/** The kinds of flow that are played. */
export type Kind = 'run' | 'direct' | 'test' | 'warmup';
/** What can be killed. */
export type Victim = 'worker' | 'api' | 'temporal' | 'postgres';

/** A process dies when a flow comes into a state. */
export interface KillOrder {
  state: string;
  victim: Victim;
  /** How long (ms) after the state was committed. */
  afterMs: number;
  /** How long (ms) it stays down, at least. */
  downMs: number;
}

/**
 * What a person does about an approval: decides; lets two people decide differently at the same moment; decides at the moment
 * in which it expires; nothing.
 */
export type Decision = 'approve' | 'deny' | 'both' | 'edge' | 'none';

/** How the mail server treats the emails of one flow. */
export type Transport = 'plain' | 'delay' | 'drop' | 'lose' | 'reject';

/** What one flow is and what happens to it. Everything is drawn before the first process is started. */
export interface Flow {
  /** Names the flow everywhere: in the campaign, the subject, the addresses. */
  marker: string;
  kind: Kind;
  startAfterMs: number;
  kill?: KillOrder;
  /** A person cancels it (stops it, in a warmup) when it comes into this state. */
  cancel?: { state: string; afterMs: number };
  /** A key with a policy, a key without one, a signed-in person. */
  caller: 'allowed' | 'asks' | 'person';
  decision: Decision;
  /** How far (ms) from the moment of the expiry the decision of `edge` is sent. */
  edgeMs: number;
  transport: Transport;
  /** A run that is only prepared. */
  draft: boolean;
  /** An email that leaves a moment later. */
  scheduled: boolean;
  /** In a test run: whether the event comes, and what the app does. */
  event: boolean;
  app: { delayMs: number; fails: boolean };
}

/** Transitions of a flow at which it can be met. A state is the table and what its row says. */
export const STATES: Record<Kind, readonly string[]> = {
  run: [
    'runs queued',
    'runs preflighting',
    'approvals pending',
    'approvals approved',
    'runs launching',
    'runs active',
    'sends sending',
  ],
  direct: [
    'direct_sends awaiting_approval',
    'approvals approved',
    'approvals denied',
    'direct_sends queued',
    'sends reserved',
    'sends sending',
  ],
  test: [
    'sends reserved',
    'sends sending',
    'test_run_steps app_action running',
    'test_run_steps wait running',
    'test_run_steps wait_for_event waiting',
  ],
  warmup: ['mailboxes warming', 'mailboxes paused', 'warmup_mails sending', 'warmup_mails sent'],
};

const VICTIMS: readonly Victim[] = ['worker', 'api', 'temporal', 'postgres'];

/** One state of one kind of flow and one victim. */
export type Card = Pick<KillOrder, 'state' | 'victim'> & { kind: Kind };

/** All cards in the order of a seed: rounds deal from the top, so that enough rounds meet every state with every victim. */
export function drawDeck(random: Random): Card[] {
  const cards = (Object.keys(STATES) as Kind[]).flatMap((kind) =>
    STATES[kind].flatMap((state) => VICTIMS.map((victim) => ({ kind, state, victim }))),
  );
  for (let at = cards.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random.next() * (at + 1));
    [cards[at], cards[other]] = [cards[other]!, cards[at]!];
  }
  return cards;
}

/** What is played in one round. */
export interface RoundPlan {
  flows: Flow[];
  /** When (ms after the beginning) Temporal loses its store; undefined where it does not. */
  loseStoreAtMs: number | undefined;
}

/** Draws a round: a flow for each card, and others that nothing is ordered for. */
export function drawRound(
  random: Random,
  {
    round,
    cards,
    others,
    spreadMs,
    losesStore,
  }: {
    round: number;
    cards: readonly Card[];
    /** Flows of each kind without a kill of their own. */
    others: Record<Kind, number>;
    /** Flows begin within this long (ms). */
    spreadMs: number;
    losesStore: boolean;
  },
): RoundPlan {
  const counts = { run: 0, direct: 0, test: 0, warmup: 0 };
  const flows: Flow[] = [];
  const add = (kind: Kind, card?: Card): void => {
    counts[kind] += 1;
    flows.push(drawFlow(random, `${kind[0]}${round}x${counts[kind]}`, kind, card, spreadMs));
  };
  for (const card of cards) add(card.kind, card);
  for (const kind of Object.keys(others) as Kind[]) for (let n = 0; n < others[kind]; n += 1) add(kind);
  // A mailbox alone has no one to write to.
  while (counts.warmup > 0 && counts.warmup < 2) add('warmup');
  return { flows, loseStoreAtMs: losesStore ? Math.round(random.between(0.3, 0.8) * spreadMs) : undefined };
}

function drawFlow(random: Random, marker: string, kind: Kind, card: Card | undefined, spreadMs: number): Flow {
  // Drawn in one order whatever comes of it, so that one flow does not shift the draws of the next within itself.
  const caller = random.pick(['allowed', 'asks', 'asks', 'person'] as const);
  const decision = random.pick(['approve', 'approve', 'approve', 'deny', 'both', 'edge', 'none'] as const);
  const cancels = random.next() < 0.35;
  const flow: Flow = {
    marker,
    kind,
    startAfterMs: Math.round(random.between(0, spreadMs)),
    caller,
    decision,
    edgeMs: Math.round(random.between(-120, 120)),
    transport: random.pick(['plain', 'plain', 'plain', 'delay', 'delay', 'drop', 'lose', 'reject']),
    draft: random.next() < 0.1,
    scheduled: random.next() < 0.3,
    event: random.next() < 0.6,
    app: { delayMs: random.next() < 0.5 ? Math.round(random.between(200, 1_500)) : 0, fails: random.next() < 0.1 },
  };
  const cancel = { state: random.pick(STATES[kind]), afterMs: Math.round(random.between(0, 120)) };
  if (cancels) flow.cancel = cancel;
  const kill = {
    afterMs: random.next() < 0.5 ? 0 : Math.round(random.between(0, 150)),
    downMs: Math.round(random.between(100, 2_000)),
  };
  return card ? meet(flow, { ...card, ...kill }) : flow;
}

/** Changes a flow so that it comes into the state in which a process is to die. */
function meet(flow: Flow, { state, victim, afterMs, downMs }: Card & KillOrder): Flow {
  const met: Flow = {
    ...flow,
    draft: false,
    app: { ...flow.app, fails: false },
    kill: { state, victim, afterMs, downMs },
  };
  // It may be cancelled in the same moment, and not before.
  if (met.cancel) met.cancel = { ...met.cancel, state };
  const asked = state.startsWith('approvals') || state.endsWith('awaiting_approval');
  if (asked || state === 'runs launching') met.caller = 'asks';
  else if (met.caller === 'asks') met.decision = 'approve';
  if (state === 'approvals approved' || state === 'runs launching') met.decision = 'approve';
  if (state === 'approvals denied') met.decision = 'deny';
  if (state === 'test_run_steps wait_for_event waiting') met.transport = 'plain';
  if (met.transport === 'reject') met.transport = 'plain';
  return met;
}
