import { z } from 'zod';
import type { GoalDefinition } from '../../../db/json-columns.ts';
import { currencyCode } from '../../../lib/money.ts';
import { says } from '../../../lib/issue-message.ts';
import { predicatesSchema, propertyPath } from '../../directory/predicates/predicate.ts';

export type { GoalDefinition } from '../../../db/json-columns.ts';

/** Stages of the funnel, in their order; `custom` is none of them. */
export const GOAL_KINDS = ['signup', 'activation', 'paid', 'revenue', 'retention', 'custom'] as const;
export type GoalKind = (typeof GOAL_KINDS)[number];

/** Names of product events, as POST /events takes them. */
const eventName = z
  .string()
  .max(120)
  .regex(/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/, says('directory.event_name'));

const currency = z
  .string()
  .length(3)
  .refine((text) => currencyCode(text) !== undefined, says('directory.currency'))
  .transform((text) => currencyCode(text)!);

/** The fields of a definition as clients send them; what is left out is null or the default. */
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

/** Whether a definition has a value and no way to its currency. */
export function lacksCurrency(definition: Partial<GoalDefinition>): boolean {
  return (
    typeof definition.value_path === 'string' && definition.currency_path == null && definition.default_currency == null
  );
}

/** Whether two definitions are written the same: the same fields, predicates in the same order. */
export function isSameDefinition(one: GoalDefinition, other: GoalDefinition): boolean {
  return canonical(one) === canonical(other);
}

/** JSON of a definition with its keys in one order: PostgreSQL keeps them in an order of its own. */
function canonical(definition: GoalDefinition): string {
  return JSON.stringify(definition, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
