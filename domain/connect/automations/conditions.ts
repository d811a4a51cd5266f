import type { z } from 'zod';
import { issueMessage } from '../../../lib/issue-message.ts';
import type { AutomationCondition } from '../../../db/json-columns.ts';
import type { Problem } from '../../../lib/errors.ts';
import { parseTemplate, renderTemplate, WorkBudget } from '../../mail/messages/template.ts';
import { message } from '../../../messages/index.ts';
import { meetsAll } from '../../directory/predicates/evaluate.ts';
import { predicateSchema, propertyPath } from '../../directory/predicates/predicate.ts';
import { TextTooLarge } from './values.ts';

/** Words for the operators of predicates that other systems use. */
const ALIASES: Readonly<Record<string, string>> = { equals: 'eq', not_equals: 'neq' };

/** Faults of a condition, at `path`. */
export function conditionProblems(condition: AutomationCondition, path: string): Problem[] {
  if (condition.field === 'expression') {
    if (!condition.expression) return [{ path: `${path}.expression`, message: message('field.required') }];
    return parseTemplate(asTemplate(condition.expression)).errors.map(({ message }) => ({
      path: `${path}.expression`,
      message,
    }));
  }
  // The key is looked at by itself: the predicate says nothing of it where the operator is unknown.
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
 * Whether data meets a condition. A field condition has the meaning of the predicates of goals: a missing property equals nothing. An expression
 * holds where what it prints is `true`; one that is cut off at the limit of its work does not hold.
 * @param whole what all conditions and texts of the run may take together
 * @throws TextTooLarge once that is used up: what the condition would say is not known
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

/** An expression may leave its braces out. */
function asTemplate(expression: string): string {
  return expression.includes('{{') ? expression : `{{ ${expression} }}`;
}

function predicateOf({ key, operator = '', value }: AutomationCondition): object {
  const op = ALIASES[operator] ?? operator;
  return { path: key, op, ...(op === 'exists' || op === 'not_exists' ? {} : { value }) };
}
