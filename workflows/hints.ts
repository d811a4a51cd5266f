import { setHandler, type SignalDefinition } from '@temporalio/workflow';

/** Signals received since the workflow last requested its next step. */
export interface Hints {
  /** Returns true if there was a signal. */
  any(): boolean;
  /** Clears the received signals. Call it when the next step is requested. */
  take(): void;
}

/** Receives signals whose payload does not matter: each reports a change, and PostgreSQL stores the details. */
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
