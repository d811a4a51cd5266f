import type { z } from 'zod';
import { issueMessage } from '../../../lib/issue-message.ts';
import type { AutomationCondition } from '../../../db/json-columns.ts';
import type { Problem } from '../../../lib/errors.ts';
import { parseTemplate, renderTemplate, WorkBudget } from '../../mail/messages/template.ts';
import { message } from '../../../messages/index.ts';
import { meetsAll } from '../../directory/predicates/evaluate.ts';
import { predicateSchema, propertyPath } from '../../directory/predicates/predicate.ts';
import { TextTooLarge } from './values.ts';

/** Alternative operator names that other systems use. */
const ALIASES: Readonly<Record<string, string>> = { equals: 'eq', not_equals: 'neq' };

/** Lists the faults of a condition, with paths below `path`. */
export function conditionProblems(condition: AutomationCondition, path: string): Problem[] {
  if (condition.field === 'expression') {
    if (!condition.expression) return [{ path: `${path}.expression`, message: message('field.required') }];
    return parseTemplate(asTemplate(condition.expression)).errors.map(({ message }) => ({
      path: `${path}.expression`,
      message,
    }));
  }
  // Checks the key separately, because the schema of predicates does not report a wrong key if the operator is unknown
  // too.
  const faulty = (key: string, issues: readonly z.core.$ZodIssue[] = []): Problem[] =>
    issues.map((issue) => ({ path: `${path}.${key}`, message: issueMessage(issue) }));
  const ofPredicate = predicateSchema.safeParse(predicateOf(condition)).error?.issues ?? [];
  return [
    ...faulty('key', propertyPath.safeParse(condition.key).error?.issues),
    ...faulty(
      'operator',
      ofPredicate.filter(({ path: [field] }) => field === undefined || field === 'op'),
    ),
    ...faulty(
      'value',
      ofPredicate.filter(({ path: [field] }) => field === 'value'),
    ),
  ];
}

/**
 * Returns true if the data meets a condition. A field condition is evaluated like a predicate of a goal: a missing
 * property equals no value. An expression is true if it renders `true`, and false if it exceeds its limit of template
 * work.
 * @param whole budget shared by all conditions and texts of the run
 * @throws TextTooLarge once the budget is used up, because the result is then unknown
 */
export function holds(
  condition: AutomationCondition,
  values: Readonly<Record<string, unknown>>,
  whole?: WorkBudget,
): boolean {
  if (condition.field === 'expression') {
    const { text, exceeded } = renderTemplate(parseTemplate(asTemplate(condition.expression ?? '')), values, {
      budget: new WorkBudget(whole),
    });
    if (whole?.exceeded) throw new TextTooLarge(message('connect.run_texts_too_large'));
    return exceeded === null && text.trim() === 'true';
  }
  const checked = predicateSchema.safeParse(predicateOf(condition));
  return checked.success && meetsAll([checked.data], values);
}

/** Adds braces to an expression that has none. */
function asTemplate(expression: string): string {
  return expression.includes('{{') ? expression : `{{ ${expression} }}`;
}

function predicateOf({ key, operator = '', value }: AutomationCondition): object {
  const op = ALIASES[operator] ?? operator;
  return { path: key, op, ...(op === 'exists' || op === 'not_exists' ? {} : { value }) };
}
