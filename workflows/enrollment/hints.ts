import { defineSignal, setHandler } from '@temporalio/workflow';
import type { Hints as AnyHints } from '../hints.ts';
import { signalText } from '../signal-text.ts';
import type { Decision, EnrollmentSignals, Launched } from './contract.ts';

/** Received signals, with a description of the latest one. */
export interface Hints extends AnyHints {
  /** Returns a description of the latest signal, for people; empty before the first signal. */
  latest(): string;
  /**
   * Returns the first decision, if the launcher sent it with the start of this workflow. Returns undefined on later
   * calls, or if another signal has arrived.
   */
  takeFirst(): Decision | undefined;
}

const event = defineSignal<[EnrollmentSignals['event']]>('event');
const reply = defineSignal<[EnrollmentSignals['reply']]>('reply');
const control = defineSignal<[EnrollmentSignals['control']]>('control');
const retry = defineSignal<[EnrollmentSignals['retry']]>('retry');

/**
 * Receives the signals of an enrollment. The Temporal UI shows each with its cause and the id of the causing record.
 */
export function listenForHints(): Hints {
  let came = false;
  let latest = '';
  let first: Decision | undefined;
  const hint = (what: string, decision?: Decision): void => {
    first = latest === '' ? decision : undefined;
    came = true;
    latest = what;
  };
  setHandler(event, (signal) => hint(`event ${signalText(signal, 'eventId', 'without an id')}`));
  setHandler(reply, (signal) => hint(signalText(signal, 'cause', 'reply').replaceAll('_', ' ')));
  setHandler(control, (signal) => hint(signalText(signal, 'cause', 'control'), decisionIn(signal)));
  setHandler(retry, (signal) => hint(`retried by the ${signalText(signal, 'cause', 'operator')}`));
  return {
    any: () => came,
    take() {
      came = false;
    },
    latest: () => latest,
    takeFirst() {
      if (first) came = false;
      return first;
    },
  };
}

/**
 * Returns the decision in the signal of a launch. Returns undefined for other signals, including malformed ones that a
 * person sent.
 */
function decisionIn(signal: EnrollmentSignals['control'] | undefined): Decision | undefined {
  const { sendId, mailboxId, at, where, step } = (signal ?? {}) as Launched;
  if (![sendId, mailboxId, where, step].every((text) => typeof text === 'string')) return undefined;
  const email = { sendId, mailboxId, where, step };
  return typeof at === 'number' ? { kind: 'slot', at, ...email } : { kind: 'send', ...email };
}
