import { DAY_MS } from '../../../lib/clock.ts';
import { newId } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import type { GoalDefinition } from './definition.ts';
import { comparePages } from './replays.ts';

/** What events say of a definition that no goal has yet. */
export interface GoalPreview {
  from: Date;
  to: Date;
  /** Events of the definition's name. */
  scanned: number;
  matched: number;
  /** People whose events matched, each once. */
  people: number;
  /** Matching events with a valid amount. */
  withValue: number;
  /** By currency, in the order of their codes. */
  values: { currency: string; amountMinor: number | null; conversions: number }[];
}

/**
 * What a definition would have counted in the last days, up to now. Writes nothing.
 * @throws AppError bad_request with more than two million events
 */
export async function previewGoal(ctx: Ctx, definition: GoalDefinition, days: number): Promise<GoalPreview> {
  const to = ctx.clock.now();
  const from = new Date(to.getTime() - days * DAY_MS);
  const people = new Set<string>();
  const sums = new Map<string, { amount: bigint; conversions: number }>();
  let [scanned, matched] = [0, 0];
  // A goal that does not exist has no conversions, so every match is one to add. An event of this moment counts.
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

/** Null for a sum that a JSON number does not carry exactly. */
function toSafe(amount: bigint): number | null {
  return amount <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(amount) : null;
}
