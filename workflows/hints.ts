import { setHandler, type SignalDefinition } from '@temporalio/workflow';

/** Signals that came since the run last asked what comes next. */
export interface Hints {
  /** Whether there was one. */
  any(): boolean;
  /** Forgets the signals so far: the run asks now. */
  take(): void;
}

/** Receives signals of which only matters that they came: each says that something has changed, and PostgreSQL says what. */
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
