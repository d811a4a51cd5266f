import type { Behaviour } from '../../../local/provisioning.ts';
import type { Random } from '../random.ts';

/** Kinds of flows. */
export type Kind = 'run' | 'direct' | 'test' | 'warmup' | 'order' | 'renewal';
/** Processes that can be killed. */
export type Victim = 'worker' | 'api' | 'temporal' | 'postgres';

/** Order to kill a process when a flow reaches a state. */
export interface KillOrder {
  state: string;
  victim: Victim;
  /** Delay (ms) after the state was committed. */
  afterMs: number;
  /** Minimum time (ms) until its restart. */
  downMs: number;
}

/**
 * Action on an approval: one decision; two concurrent different decisions (`both`); a decision at the time of expiry
 * (`edge`); none.
 */
type Decision = 'approve' | 'deny' | 'both' | 'edge' | 'none';

/** Behaviour of the mail server for the emails of one flow. */
type Transport = 'plain' | 'delay' | 'drop' | 'lose' | 'reject';

/** Flow with all its planned events. It is fully drawn before the first process is started. */
export interface Flow {
  /** Name of the flow in the campaign, the subject and the addresses. */
  marker: string;
  kind: Kind;
  startAfterMs: number;
  kill?: KillOrder;
  /** State at which a person cancels the flow, or for a warmup stops it. */
  cancel?: { state: string; afterMs: number };
  /** Caller of the API: a key with a policy, a key without one, or a signed-in person. */
  caller: 'allowed' | 'asks' | 'person';
  decision: Decision;
  /** Offset (ms) of the `edge` decision from the expiry. */
  edgeMs: number;
  transport: Transport;
  /** True for a run that is only a draft. */
  draft: boolean;
  /** True for an email that is scheduled for shortly later. */
  scheduled: boolean;
  /** In a test run: true if the event arrives. `app` is the app's answer. */
  event: boolean;
  app: { delayMs: number; fails: boolean };
  /** In an order or a renewal: its payment, and the provider's misbehaviour. */
  shopping?: Shopping;
}

/** Actions of a person and the mailbox provider in an order or a renewal. */
export interface Shopping {
  /** Number of mailboxes. */
  count: number;
  warmup: boolean;
  /** `late`: the payment's event arrives seconds after the payment. `never`: the payment deadline passes. */
  pays: 'once' | 'twice' | 'late' | 'other_amount' | 'never';
  /** The bank's answer to a renewal's charge. After a decline the person pays on the payment page. */
  charge: 'succeed' | 'decline' | 'processing';
  /** Misbehaviour of the provider. Its `key`, that of the order or the domain, is added when the order is placed. */
  misdeeds: Omit<Behaviour, 'key'>[];
}

/** Transitions of each kind of flow at which a kill can happen, as table and state. */
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
    'approvals executed',
    'approvals denied',
    'direct_sends queued',
    'sends reserved',
    'sends sending',
    'handovers begun',
  ],
  test: [
    'sends reserved',
    'sends sending',
    'test_run_steps app_action running',
    'test_run_steps wait running',
    'test_run_steps wait_for_event waiting',
  ],
  warmup: ['mailboxes warming', 'mailboxes paused', 'warmup_mails sending', 'handovers begun', 'warmup_mails sent'],
  order: [
    'mailbox_orders awaiting_payment',
    'mailbox_orders paid',
    'mailbox_orders queued',
    'mailbox_orders provisioning',
    'mailbox_orders configuring',
    'mailbox_orders ready',
    'mailbox_orders failed',
    'mailbox_orders cancelled',
    'order_steps domain running',
    'order_steps mailbox running',
    'order_steps dns running',
    'order_steps mailbox compensating',
    'order_steps domain compensating',
    'payments refund_due',
  ],
  renewal: [
    'domain_renewals scheduled',
    'domain_renewals charging',
    'domain_renewals renewing',
    'domain_renewals requires_action',
    'domain_renewals renewed',
    'payments refund_due',
  ],
};

/** First character of a flow's name, by kind. */
const LETTERS: Record<Kind, string> = {
  run: 'r',
  direct: 'd',
  test: 't',
  warmup: 'w',
  order: 'o',
  renewal: 'y',
};

const VICTIMS: readonly Victim[] = ['worker', 'api', 'temporal', 'postgres'];

/** Combination of a kind of flow, a state and a victim. */
export type Card = Pick<KillOrder, 'state' | 'victim'> & { kind: Kind };

/**
 * Returns all cards of these kinds in random order. Rounds draw from the top, so that enough rounds cover every state
 * with every victim.
 */
export function drawDeck(random: Random, kinds: readonly Kind[]): Card[] {
  const cards = kinds.flatMap((kind) =>
    STATES[kind].flatMap((state) => VICTIMS.map((victim) => ({ kind, state, victim }))),
  );
  for (let at = cards.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random.next() * (at + 1));
    [cards[at], cards[other]] = [cards[other]!, cards[at]!];
  }
  return cards;
}

/** Plan of one round. */
interface RoundPlan {
  flows: Flow[];
  /** Time (ms after the start) at which Temporal loses its storage; undefined if it does not. */
  loseStoreAtMs: number | undefined;
}

/** Draws a round: a flow for each card, and others without a kill. */
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
    /** Number of flows of each kind without a kill. */
    others: Record<Kind, number>;
    /** Time (ms) within which flows start. */
    spreadMs: number;
    losesStore: boolean;
  },
): RoundPlan {
  const counts = { run: 0, direct: 0, test: 0, warmup: 0, order: 0, renewal: 0 };
  const flows: Flow[] = [];
  const add = (kind: Kind, card?: Card): void => {
    counts[kind] += 1;
    flows.push(drawFlow(random, `${LETTERS[kind]}${round}x${counts[kind]}`, kind, card, spreadMs));
  };
  for (const card of cards) add(card.kind, card);
  for (const kind of Object.keys(others) as Kind[]) for (let n = 0; n < others[kind]; n += 1) add(kind);
  // A single mailbox has no partner to email.
  while (counts.warmup > 0 && counts.warmup < 2) add('warmup');
  return { flows, loseStoreAtMs: losesStore ? Math.round(random.between(0.3, 0.8) * spreadMs) : undefined };
}

function drawFlow(random: Random, marker: string, kind: Kind, card: Card | undefined, spreadMs: number): Flow {
  // Always drawn in the same order, so that the draws of one flow do not change those of the next.
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
  if (kind === 'order' || kind === 'renewal') flow.shopping = drawShopping(random, kind);
  const kill = {
    afterMs: random.next() < 0.5 ? 0 : Math.round(random.between(0, 150)),
    downMs: Math.round(random.between(100, 2_000)),
  };
  return card ? meet(flow, { ...card, ...kill }) : flow;
}

/** Changes a flow so that it reaches the state of its kill order. */
function meet(flow: Flow, { state, victim, afterMs, downMs }: Card & KillOrder): Flow {
  const met: Flow = {
    ...flow,
    draft: false,
    app: { ...flow.app, fails: false },
    kill: { state, victim, afterMs, downMs },
  };
  // A cancellation happens at the state of the kill, not earlier.
  if (met.cancel) met.cancel = { ...met.cancel, state };
  if (state === 'mailbox_orders cancelled') met.cancel = { state: 'order_steps mailbox running', afterMs: 50 };
  const asked = state.startsWith('approvals') || state.endsWith('awaiting_approval');
  if (asked || state === 'runs launching') met.caller = 'asks';
  else if (met.caller === 'asks') met.decision = 'approve';
  if (['approvals approved', 'approvals executed', 'runs launching'].includes(state)) met.decision = 'approve';
  if (state === 'approvals denied') met.decision = 'deny';
  if (state === 'test_run_steps wait_for_event waiting') met.transport = 'plain';
  if (met.transport === 'reject') met.transport = 'plain';
  // Slow enough that a process can die between the mark and the settlement.
  if (state === 'handovers begun') met.transport = 'delay';
  if (met.shopping) met.shopping = meetShopping(met, state);
  return met;
}

const MISDEEDS = ['slow', 'fail', 'half', 'lost', 'twice', 'late'] as const;

function drawShopping(random: Random, kind: 'order' | 'renewal'): Shopping {
  const count = random.pick([1, 1, 2]);
  const warmup = random.next() < 0.5;
  const pays = random.pick(['once', 'once', 'twice', 'late', 'other_amount', 'never'] as const);
  const charge = random.pick(['succeed', 'succeed', 'decline', 'processing'] as const);
  const refused = random.next() < 0.2;
  const operations =
    kind === 'renewal'
      ? ['domains/renew']
      : ['domains/register', 'mailboxes/create', 'domains/dns', 'mailboxes/retire', 'domains/release'];
  const misdeeds: Shopping['misdeeds'] = Array.from({ length: random.pick([0, 1, 1, 2]) }, () => ({
    does: random.pick(MISDEEDS),
    operation: random.pick(operations),
    ms: random.pick([300, 1_500]),
  }));
  if (refused) misdeeds.unshift(refusalOf(kind));
  return { count, warmup, pays: kind === 'renewal' ? 'once' : pays, charge, misdeeds };
}

/**
 * Refusal by the provider that applies from the first call of an operation. An order is refused repeatedly, because a
 * worker that dies with the answer calls again.
 */
function refusalOf(kind: Kind): Shopping['misdeeds'][number] {
  return kind === 'renewal'
    ? { does: 'refuse', operation: 'domains/renew', code: 'registry_locked' }
    : { does: 'refuse', operation: 'domains/dns', code: 'no_zone', times: Infinity };
}

/**
 * Changes an order or a renewal so that it reaches a state: paid unless that state precedes the payment, and refused or
 * cancelled for later states.
 */
function meetShopping({ kind, shopping }: Flow, state: string): Shopping {
  const met = { ...shopping!, misdeeds: shopping!.misdeeds.filter(({ does }) => does !== 'refuse') };
  if (state !== 'mailbox_orders awaiting_payment' && met.pays !== 'twice') met.pays = 'once';
  if (kind === 'renewal' && state === 'domain_renewals requires_action') met.charge = 'decline';
  if (/failed|compensating|refund_due/.test(state)) met.misdeeds.unshift(refusalOf(kind));
  return met;
}
