import { setHandler, type SignalDefinition } from '@temporalio/workflow';

/** Signals received since the run last asked for its next step. */
export interface Hints {
  /** Returns true if there was a signal. */
  any(): boolean;
  /** Clears the signals so far. Called when the run asks. */
  take(): void;
}

/**
 * Receives signals whose arrival alone matters: each says that something has changed, and PostgreSQL holds the details.
 */
export function listenForHints(...signals: SignalDefinition<any>[]): Hints {
  let came = false;
  for (const signal of signals)
    setHandler(signal, () => {
      came = true;
    });
  return {
    any: () => came,
    take() {
      came = false;
    },
  };
}
