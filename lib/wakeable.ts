/** Pauses between the iterations of a loop. A pause ends early when there is work. */
export interface Wakeable {
  /** Ends the current pause. Without a current pause, the next one ends as soon as it begins. */
  wake(): void;
  /** Forgets earlier wake-ups. Call it at the start of an iteration, which handles the work announced by them. */
  clear(): void;
  /** Resolves after `ms`, or earlier when woken. A wake-up ends one pause. */
  pause(ms: number): Promise<void>;
}

/** Creates a {@link Wakeable} for one loop. Only one pause may be open at a time. */
export function createWakeable(): Wakeable {
  let isWoken = false;
  let end: (() => void) | undefined;
  return {
    wake() {
      isWoken = true;
      end?.();
    },
    clear() {
      isWoken = false;
    },
    async pause(ms) {
      if (end) throw new Error('a pause is going on');
      if (!isWoken) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          end = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        end = undefined;
      }
      isWoken = false;
    },
  };
}
