/** A pause between two turns of a loop, which ends early when there is something to do. */
export interface Wakeable {
  /** Ends the current pause, or else the next one as soon as it begins. */
  wake(): void;
  /** Forgets earlier wake-ups; called at the start of a turn, which will find what they announced. */
  clear(): void;
  /** Resolves after `ms`, or at once when woken. A wake-up ends one pause. */
  pause(ms: number): Promise<void>;
}

/** Makes a {@link Wakeable} for one loop: only one pause may be open at a time. */
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
