import { z } from 'zod';
import type { GoalDefinition } from '../../../db/json-columns.ts';
import { currencyCode } from '../../../lib/money.ts';
import { ruleMessage } from '../../../lib/issue-message.ts';
import { predicatesSchema, propertyPath } from '../../directory/predicates/predicate.ts';

export type { GoalDefinition } from '../../../db/json-columns.ts';

/** Stages of the funnel, in their order. `custom` has no stage. */
export const GOAL_KINDS = ['signup', 'activation', 'paid', 'revenue', 'retention', 'custom'] as const;
export type GoalKind = (typeof GOAL_KINDS)[number];

/** Name of a product event, with the rules of POST /events. */
const eventName = z
  .string()
  .max(120)
  .regex(/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/, ruleMessage('directory.event_name'));

const currency = z
  .string()
  .length(3)
  .refine((text) => currencyCode(text) !== undefined, ruleMessage('directory.currency'))
  .transform((text) => currencyCode(text)!);

/** Fields of a definition as clients send them. Missing fields become null or their default. */
export const definitionFields = {
  event_name: eventName,
  predicates: predicatesSchema.default([]),
  value_path: propertyPath.nullable().default(null),
  value_unit: z.enum(['minor', 'major']).default('minor').meta({
    description:
      'Whether the amount is in minor units (cents) or in major ones, converted by the decimals of its currency',
  }),
  currency_path: propertyPath.nullable().default(null),
  default_currency: currency
    .nullable()
    .default(null)
    .meta({ description: 'ISO 4217 code; counts where the event has none at `currency_path`' }),
};

/** Returns true if a definition has a value but no source for its currency. */
export function lacksCurrency(definition: Partial<GoalDefinition>): boolean {
  return (
    typeof definition.value_path === 'string' && definition.currency_path == null && definition.default_currency == null
  );
}

/** Returns true if two definitions have the same fields, with predicates in the same order. */
export function isSameDefinition(one: GoalDefinition, other: GoalDefinition): boolean {
  return canonical(one) === canonical(other);
}

/** Returns JSON of a definition with its keys in a fixed order, because PostgreSQL stores them in its own order. */
function canonical(definition: GoalDefinition): string {
  return JSON.stringify(definition, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
