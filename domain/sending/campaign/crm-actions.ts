import { z } from 'zod';
import type { OrgScope } from '../../../db/tenancy.ts';
import type { Problem } from '../../../lib/errors.ts';
import { exactMinorUnits, isCurrency } from '../../../lib/money.ts';
import { message } from '../../../messages/index.ts';
import { ruleMessage } from '../../../lib/issue-message.ts';

export const TASK_PRIORITIES = ['low', 'medium', 'high', 'urgent'] as const;

/** Default currency of a deal. */
export const DEFAULT_CURRENCY = 'USD';

/** UUID of a row, in lower case as PostgreSQL returns it, so that comparisons match. */
export const rowId = z.uuid().toLowerCase();
/** Name of a task type of the workspace. */
export const taskTypeName = z.string().min(1).max(60);

/**
 * Fields of a task that an automation or a campaign step creates. The task type is not included, because steps name it
 * differently.
 * @param values description of the merge fields that the texts may use
 */
export function taskFields(values: string) {
  return {
    title: template(255, values),
    description: template(5000, values).optional(),
    priority: z.enum(TASK_PRIORITIES).default('medium'),
    due_in_days: z.int().min(0).max(365).optional(),
    assigned_to: rowId.optional(),
  };
}

/**
 * Fields of a deal that an automation or a campaign step creates.
 * @param values description of the merge fields that the name may use
 */
export function dealFields(values: string) {
  return {
    name: template(255, values),
    pipeline_id: rowId,
    stage_id: rowId,
    value: z.number().min(0).max(1e12).optional(),
    currency: z.string().refine(isCurrency, ruleMessage('directory.currency')).optional(),
    assigned_to: rowId.optional(),
  };
}

function template(max: number, values: string) {
  return z.string().min(1).max(max).meta({ description: values });
}

/** Task types of a new workspace. The first one is the default type of a task. */
export const FIRST_TASK_TYPES = [
  { name: 'To-do', color: '#64748b' },
  { name: 'Call', color: '#0ea5e9' },
  { name: 'Email', color: '#8b5cf6' },
  { name: 'Meeting', color: '#16a34a' },
  { name: 'Follow-up', color: '#f59e0b' },
] as const;

/** Returns the task types of a workspace in their order, or the defaults before the first list is stored. */
export async function readTaskTypes(org: OrgScope): Promise<readonly { name: string }[]> {
  const types = await org.sql<{ name: string | null }>(
    `select t.name from crm_seeds s left join crm_task_types t on t.organization_id = s.organization_id
     where s.organization_id = :org order by t.position, t.id`,
  );
  return types.length === 0 ? FIRST_TASK_TYPES : types.flatMap(({ name }) => (name === null ? [] : [{ name }]));
}

/** Returns true if a task type has the name, ignoring case. */
export function isTaskTypeNamed(type: { name: string }, name: string): boolean {
  return type.name.toLowerCase() === name.toLowerCase();
}

/** Returns a problem for each name that is not a task type of the workspace. */
export async function taskTypeProblems(
  org: OrgScope,
  named: readonly { path: string; name: string }[],
): Promise<Problem[]> {
  return named.length === 0 ? [] : unknownTaskTypes(await readTaskTypes(org), named);
}

/** Variant of {@link taskTypeProblems} for task types that were already read. */
export function unknownTaskTypes(
  types: readonly { name: string }[],
  named: readonly { path: string; name: string }[],
): Problem[] {
  const said =
    types.length === 0
      ? message('steps.no_task_types')
      : message('steps.unknown_task_type', { types: types.map((type) => type.name) });
  return named
    .filter(({ name }) => !types.some((type) => isTaskTypeNamed(type, name)))
    .map(({ path }) => ({ path, message: said }));
}

/** A deal to create, with the request path that its problems refer to. */
export interface DealInput {
  path: string;
  pipeline_id: string;
  stage_id: string;
  value?: number | undefined;
  currency?: string | undefined;
}

/**
 * Returns problems of deals that could never be created: the stage belongs to another pipeline, or the value is not a
 * whole number of the currency's minor units. Unknown ids are not reported here.
 */
export async function dealProblems(org: OrgScope, deals: readonly DealInput[]): Promise<Problem[]> {
  if (deals.length === 0) return [];
  const stages = await org.sql<{ id: string; pipeline_id: string }>(
    'select id, pipeline_id from crm_stages where organization_id = :org and id = any(cast(:ids as uuid[]))',
    { ids: deals.map((deal) => deal.stage_id) },
  );
  return deals.flatMap(({ path, pipeline_id: pipeline, stage_id: stage, value, currency = DEFAULT_CURRENCY }) => {
    const place = stages.find(({ id }) => id === stage.toLowerCase());
    const isElsewhere = place !== undefined && place.pipeline_id !== pipeline.toLowerCase();
    const isNoAmount = value !== undefined && exactMinorUnits(value, currency) === null;
    return [
      ...(isElsewhere ? [{ path: `${path}.stage_id`, message: message('crm.stage_of_other_pipeline') }] : []),
      ...(isNoAmount ? [{ path: `${path}.value`, message: message('crm.amount_misfit', { currency }) }] : []),
    ];
  });
}
