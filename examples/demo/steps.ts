/** Interval (ms) between redraws on a terminal. Elsewhere, `PLAIN_EVERY_MS` is the interval of progress lines. */
const DRAW_EVERY_MS = 250;
const PLAIN_EVERY_MS = 5_000;
/** Maximum width of a line outside of a terminal. The list of migrations would be longer. */
const PLAIN_WIDTH = 160;

/** Running step of the demo. */
interface Step {
  /** Prints a completed action. */
  say: (line: string) => void;
  /** Shows the progress. Outside of a terminal at most one line in five seconds is printed. */
  progress: (line: string) => void;
  end: () => void;
}

/**
 * List of finished and running steps with their times. On a terminal it is redrawn in place; elsewhere each event
 * prints a line.
 */
export interface StepList {
  begin: (title: string) => Step;
  /** Prints lines that stay, on a terminal above the list. */
  write: (text: string) => void;
  /** Ends the current list, which stays on the terminal, and starts an empty one. */
  close: () => void;
}

interface Entry {
  title: string;
  latest: string;
  beganMs: number;
  tookMs?: number;
}

/** Creates an empty list that is drawn on `out`. `now` returns the time in ms, from any origin. */
export function createStepList(
  out: Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'>,
  now: () => number = () => performance.now(),
): StepList {
  const entries: Entry[] = [];
  let drawn = 0;
  let timer: NodeJS.Timeout | undefined;
  const began = now();

  const erase = (): string => (drawn > 0 ? `\x1b[${drawn}A\x1b[J` : '');
  const draw = (above = ''): void => {
    const width = (out.columns || 80) - 1;
    const lines = entries.map((entry) => toLine(entry, now()).slice(0, width));
    out.write(`${erase()}${above}${lines.map((line) => `${line}\n`).join('')}`);
    drawn = lines.length;
  };
  const plain = (text: string): void =>
    void out.write(`  ${seconds(now() - began)}  ${text}`.slice(0, PLAIN_WIDTH) + '\n');

  return {
    begin(title) {
      const entry: Entry = { title, latest: '', beganMs: now() };
      let lastPlainMs = now() - PLAIN_EVERY_MS;
      entries.push(entry);
      if (out.isTTY) {
        timer ??= setInterval(draw, DRAW_EVERY_MS).unref();
        draw();
      } else plain(`${title} …`);
      return {
        say(line) {
          entry.latest = line;
          if (!out.isTTY) plain(`${title}: ${line}`);
        },
        progress(line) {
          entry.latest = line;
          if (out.isTTY || now() - lastPlainMs < PLAIN_EVERY_MS) return;
          lastPlainMs = now();
          plain(`${title}: ${line}`);
        },
        end() {
          entry.tookMs = now() - entry.beganMs;
          if (out.isTTY) draw();
          else plain(`${title}: done in ${seconds(entry.tookMs).trim()}`);
        },
      };
    },
    write(text) {
      if (out.isTTY) draw(`${text}\n`);
      else out.write(`${text}\n`);
    },
    close() {
      clearInterval(timer);
      timer = undefined;
      entries.length = 0;
      drawn = 0;
    },
  };
}

function toLine({ title, latest, beganMs, tookMs }: Entry, nowMs: number): string {
  return tookMs === undefined
    ? `  … ${seconds(nowMs - beganMs)}  ${title}${latest && `: ${latest}`}`
    : `  ✓ ${seconds(tookMs)}  ${title}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1).padStart(5)} s`;
}
