import { DAY_MS } from '../../../lib/clock.ts';
import { newId } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import type { GoalDefinition } from './definition.ts';
import { comparePages } from './replays.ts';

/** Result of applying a draft definition to past events. */
export interface GoalPreview {
  from: Date;
  to: Date;
  /** Number of events with the definition's name. */
  scanned: number;
  matched: number;
  /** Number of different people whose events matched. */
  people: number;
  /** Number of matching events with a valid amount. */
  withValue: number;
  /** Sums by currency, sorted by currency code. */
  values: { currency: string; amountMinor: number | null; conversions: number }[];
}

/**
 * Returns counts of the events that a definition would have matched in the last `days` days. Changes no data.
 * @throws AppError bad_request with more than two million events
 */
export async function previewGoal(ctx: Ctx, definition: GoalDefinition, days: number): Promise<GoalPreview> {
  const to = ctx.clock.now();
  const from = new Date(to.getTime() - days * DAY_MS);
  const people = new Set<string>();
  const sums = new Map<string, { amount: bigint; conversions: number }>();
  let [scanned, matched] = [0, 0];
  // Uses the id of a new goal, which has no conversions, so every match is an addition. Adds 1 ms to include the
  // current time, because the end is exclusive.
  const range = { from, to: new Date(to.getTime() + 1) };
  for await (const page of comparePages(reader(ctx), { goalId: newId(), revision: 1, definition, ...range })) {
    scanned += page.scanned;
    matched += page.added.length;
    for (const { personId, contactId, valueMinor, currency } of page.added) {
      people.add(contactId ?? personId!);
      if (valueMinor === null) continue;
      const sum = sums.get(currency!) ?? { amount: 0n, conversions: 0 };
      sums.set(currency!, { amount: sum.amount + BigInt(valueMinor), conversions: sum.conversions + 1 });
    }
  }
  const values = [...sums]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, { amount, conversions }]) => ({ currency, amountMinor: toSafe(amount), conversions }));
  const withValue = values.reduce((sum, { conversions }) => sum + conversions, 0);
  return { from, to, scanned, matched, people: people.size, withValue, values };
}

/** Converts a sum to a number. Null if a JavaScript number cannot represent it exactly. */
function toSafe(amount: bigint): number | null {
  return amount <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(amount) : null;
}
