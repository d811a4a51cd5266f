import { defineSignal, setHandler } from '@temporalio/workflow';
import type { Hints as AnyHints } from '../hints.ts';
import { signalText } from '../signal-text.ts';
import type { EnrollmentSignals } from './contract.ts';

/** Received signals, with a description of the latest one. */
export interface Hints extends AnyHints {
  /** Returns a description of the latest signal, for people; empty before the first signal. */
  latest(): string;
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
  const hint = (what: string): void => {
    came = true;
    latest = what;
  };
  setHandler(event, (signal) => hint(`event ${signalText(signal, 'eventId', 'without an id')}`));
  setHandler(reply, (signal) => hint(signalText(signal, 'cause', 'reply').replaceAll('_', ' ')));
  setHandler(control, (signal) => hint(signalText(signal, 'cause', 'control')));
  setHandler(retry, (signal) => hint(`retried by the ${signalText(signal, 'cause', 'operator')}`));
  return {
    any: () => came,
    take() {
      came = false;
    },
    latest: () => latest,
  };
}
