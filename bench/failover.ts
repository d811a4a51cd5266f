import { isClean } from '../test/faults/installation.ts';
import { runFailover } from '../test/faults/failover.ts';
import type { BenchResult } from './context.ts';

/** Number of emails that are being sent when the database disappears. */
const EMAILS = 20;
const AWAY_MS = 40_000;
const TARGET_S = 60;

/**
 * Measures the recovery of a worker whose database disappears without closing its connections. The measured time begins
 * when the new database accepts the first connection. It ends when the last email that was being sent is settled.
 */
export async function run(quick: boolean, log: (line: string) => void): Promise<BenchResult> {
  const rounds: number[] = [];
  let clean = true;
  for (let round = 0; round < (quick ? 1 : 2); round += 1) {
    const { checks, settledMs } = await runFailover({ emails: EMAILS, awayMs: AWAY_MS, settleMs: 120_000, log });
    rounds.push(settledMs / 1000);
    clean &&= isClean(checks);
  }
  const worst = Math.max(...rounds);
  const each = rounds.map((seconds) => `${seconds.toFixed(1)} s`).join(', ');
  return {
    figures: [
      { label: `${EMAILS} emails in flight, ${AWAY_MS / 1000} s without a database: settled after`, value: each },
    ],
    targets: [
      {
        what: 'settled after the first connection that the new database accepts',
        target: `<= ${TARGET_S} s`,
        got: `${worst.toFixed(1)} s`,
        met: worst <= TARGET_S,
      },
      { what: 'none twice, none lost, no restart', target: 'yes', got: clean ? 'yes' : 'no', met: clean },
    ],
    raw: { rounds },
  };
}
