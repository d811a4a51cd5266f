import { CURRENCY_DECIMALS, currencyCode, toMinorUnits } from '../../../lib/money.ts';
import { meetsAll, propertyAt } from '../../directory/predicates/evaluate.ts';
import type { GoalDefinition } from './definition.ts';

/** Value of a conversion. Both fields are null if the event has no valid amount. */
interface ConversionValue {
  valueMinor: number | null;
  currency: string | null;
}

const NO_VALUE: ConversionValue = { valueMinor: null, currency: null };

/**
 * Returns true if a product event meets a definition. This is the reference implementation; the SQL form (`compile.ts`)
 * gives the same results.
 */
export function meetsDefinition(definition: GoalDefinition, event: { name: string; data: unknown }): boolean {
  return event.name === definition.event_name && meetsAll(definition.predicates, event.data);
}

/**
 * Returns the value of a conversion: the number at `value_path`, in the currency at `currency_path` or in the default
 * currency. Returns no value if the amount is not a positive whole number of minor units, or the currency is not in ISO
 * 4217.
 */
export function valueOf(definition: GoalDefinition, data: unknown): ConversionValue {
  if (definition.value_path === null) return NO_VALUE;
  const amount = propertyAt(data, definition.value_path);
  const currency = currencyOf(definition, data);
  if (typeof amount !== 'number' || currency === undefined) return NO_VALUE;
  const valueMinor = toMinorUnits(amount, definition.value_unit === 'major' ? CURRENCY_DECIMALS.get(currency)! : 0);
  return valueMinor === null || valueMinor === 0 ? NO_VALUE : { valueMinor, currency };
}

function currencyOf(definition: GoalDefinition, data: unknown): string | undefined {
  const found = definition.currency_path === null ? undefined : propertyAt(data, definition.currency_path);
  if (found === undefined || found === null) return definition.default_currency ?? undefined;
  return typeof found === 'string' ? currencyCode(found) : undefined;
}
