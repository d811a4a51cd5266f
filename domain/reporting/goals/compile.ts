import { CURRENCY_DECIMALS } from '../../../lib/money.ts';
import { Conditions } from '../../platform/conditions.ts';
import { compilePath, compilePredicates } from '../../directory/predicates/compile.ts';
import type { GoalDefinition } from './definition.ts';

/** A definition as SQL expressions on a product event, with their bindings. */
interface CompiledDefinition {
  /**
   * Boolean SQL: the event's data meets the predicates. Null if TypeScript must evaluate them (`meetsDefinition`). The
   * event's name is not checked.
   */
  matches: string;
  /** Text SQL: the currency of the value, or null. */
  currency: string;
  /** Returns bigint SQL: the value in minor units of the currency, or null. */
  valueMinor(currency: string): string;
  bindings: Conditions['bindings'];
}

const LARGEST = Number.MAX_SAFE_INTEGER;
const FACTORS = {
  minor: factors(() => 1),
  major: factors((decimals) => 10 ** decimals),
};

/**
 * Compiles a definition to SQL with the same results as `meetsDefinition` and `valueOf` (`match.ts`).
 * @param data SQL expression of the event's jsonb data
 */
export function compileDefinition(definition: GoalDefinition, data: string): CompiledDefinition {
  const { sql: matches, bindings } = compilePredicates(definition.predicates, data);
  const where = new Conditions('value');
  const { value_path: valuePath, value_unit: unit } = definition;
  if (valuePath === null)
    return { matches, currency: 'null::text', valueMinor: () => 'null::bigint', bindings: { ...bindings } };
  const amount = compilePath(where, data, valuePath);
  const known = where.bind(FACTORS[unit], 'text');
  const currency = compileCurrency(where, definition, data);
  return {
    matches,
    currency,
    valueMinor: (code) => {
      const minor = `((${amount}) #>> '{}')::numeric * ((${known}::jsonb) ->> ${code})::numeric`;
      return `case when jsonb_typeof(${amount}) = 'number' then (
        select case when minor > 0 and minor <= ${LARGEST} and minor = trunc(minor) then minor::bigint end from (select ${minor} as minor) m) end`;
    },
    bindings: { ...bindings, ...where.bindings },
  };
}

function compileCurrency(where: Conditions, definition: GoalDefinition, data: string): string {
  const fallback = where.bind(definition.default_currency, 'text');
  if (definition.currency_path === null) return fallback;
  const found = compilePath(where, data, definition.currency_path);
  return `case coalesce(jsonb_typeof(${found}), 'null') when 'null' then ${fallback}
    when 'string' then upper(((${found}) #>> '{}') collate "C") end`;
}

/**
 * Returns JSON with a factor for each currency, computed from its number of decimals. An amount in a currency without a
 * factor is ignored.
 */
function factors(of: (decimals: number) => number): string {
  return JSON.stringify(Object.fromEntries([...CURRENCY_DECIMALS].map(([code, decimals]) => [code, of(decimals)])));
}
