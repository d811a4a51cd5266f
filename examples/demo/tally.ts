import { EVENT, WAIT_STEP } from './campaign.ts';
import type { ProductRecord } from './record.ts';

/** Steps of the campaign by name, each with its label in the table. */
const STEPS: readonly [step: string, label: string][] = [
  ['hello', 'hello'],
  ['ask the app', 'ask the app'],
  ['offer', 'offer'],
  [WAIT_STEP, EVENT],
  ['welcome', 'welcome'],
  ['nudge', 'nudge'],
];
const HEAD = ['sent', 'opened', 'clicked', 'replied', 'bounced', 'answered', 'resumed', 'timed out'];
const LABEL_WIDTH = 12;

/**
 * Returns the table of the demo from the product's database: one line per step. Opens and clicks by machines are not
 * counted.
 */
export function stepTable({ sends, waits, calls }: ProductRecord): string[] {
  const cellsOf = (step: string): (number | '')[] => {
    if (step === 'ask the app')
      return ['', '', '', '', '', calls.filter(({ state }) => state === 'completed').length, '', ''];
    if (step === WAIT_STEP) {
      const ended = (state: string): number => waits.filter((wait) => wait.state === state).length;
      return ['', '', '', '', '', '', ended('resumed'), ended('timed_out')];
    }
    const own = sends.filter((send) => send.step === step);
    const count = (at: 'sentAt' | 'openedAt' | 'clickedAt' | 'repliedAt' | 'bouncedAt'): number =>
      own.filter((send) => send[at]).length;
    return [count('sentAt'), count('openedAt'), count('clickedAt'), count('repliedAt'), count('bouncedAt'), '', '', ''];
  };
  const line = (label: string, cells: readonly (string | number)[]): string =>
    label.padEnd(LABEL_WIDTH) + cells.map((cell, column) => String(cell).padStart(HEAD[column]!.length + 1)).join('');
  return [line('', HEAD), ...STEPS.map(([step, label]) => line(label, cellsOf(step)))];
}
