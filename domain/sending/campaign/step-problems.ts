import type { LabelRegistry } from '../../../db/models/label.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import type { Problem } from '../../../lib/errors.ts';
import { message, type Message } from '../../../messages/index.ts';
import { parseTemplate } from '../../mail/messages/template.ts';
import { existingIds, type ReferenceTable } from '../../platform/references.ts';
import type { StepAction } from './actions.ts';
import { dealProblems, taskTypeProblems } from './crm-actions.ts';

/** A step to check, with its path in the request. */
export interface CheckedStep {
  kind: 'email' | 'action' | 'wait';
  action: StepAction | null;
  path: string;
}

/**
 * Returns problems of step kinds and actions: kind and action must match, and every id must belong to the organization.
 */
export async function stepProblems(org: OrgScope, steps: readonly CheckedStep[]): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const { kind, action, path } of steps) {
    const waits = action?.type === 'wait' || action?.type === 'wait_for_event';
    if (kind === 'email' && action)
      problems.push({ path: `${path}.action`, message: message('steps.email_has_action') });
    else if (kind !== 'email' && !action)
      problems.push({ path: `${path}.action`, message: message('steps.needs_action', { kind }) });
    else if (kind === 'wait' && !waits)
      problems.push({ path: `${path}.action.type`, message: message('steps.wait_action') });
  }
  const actions = steps.flatMap(({ action, path }) => (action ? [{ action, path: `${path}.action` }] : []));
  return [...problems, ...(await referenceProblems(org, actions)), ...(await crmProblems(org, actions))];
}

/** An action to check, with its path in the request. */
interface CheckedAction {
  action: StepAction;
  path: string;
}

/** Fields of step actions that contain the id of a row, with the message for an unknown id. */
const REFERENCES: readonly { field: string; table: ReferenceTable; registry?: LabelRegistry; said: Message }[] = [
  { field: 'app_connection_id', table: 'app_connections', said: message('directory.unknown_app_connection') },
  { field: 'automation_id', table: 'automations', said: message('directory.unknown_automation') },
  { field: 'category_id', table: 'labels', registry: 'category', said: message('directory.unknown_category') },
  { field: 'pipeline_id', table: 'crm_pipelines', said: message('directory.unknown_pipeline') },
  { field: 'stage_id', table: 'crm_stages', said: message('directory.unknown_stage') },
  { field: 'assigned_to', table: 'memberships', said: message('directory.unknown_member') },
];

async function referenceProblems(org: OrgScope, actions: readonly CheckedAction[]): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const { field, table, registry, said } of REFERENCES) {
    const named = actions.flatMap(({ action, path }) => {
      const id = (action as Readonly<Record<string, unknown>>)[field];
      // A row with an invalid stored action has a null connection id, which is reported like an unknown connection.
      return id === undefined ? [] : [{ id: typeof id === 'string' ? id : '', path: `${path}.${field}` }];
    });
    const ids = named.map(({ id }) => id);
    const known = await existingIds(org, table, ids, registry ? { registry } : {});
    for (const { id, path } of named) if (!known.has(id.toLowerCase())) problems.push({ path, message: said });
  }
  return problems;
}

/** Returns problems of steps that create tasks and deals: task types, impossible deals, templates that do not parse. */
async function crmProblems(org: OrgScope, actions: readonly CheckedAction[]): Promise<Problem[]> {
  const deals = actions.flatMap(({ action, path }) => (action.type === 'create_deal' ? [{ ...action, path }] : []));
  const kinds = actions.flatMap(({ action, path }) =>
    action.type === 'create_task' && action.task_type !== undefined
      ? [{ name: action.task_type, path: `${path}.task_type` }]
      : [],
  );
  return [
    ...(await dealProblems(org, deals)),
    ...(await taskTypeProblems(org, kinds)),
    ...actions.flatMap(({ action, path }) => textProblems(action, path)),
  ];
}

function textProblems(action: StepAction, path: string): Problem[] {
  if (action.type !== 'create_task' && action.type !== 'create_deal') return [];
  const texts: Readonly<Record<string, unknown>> = action;
  return ['title', 'description', 'name'].flatMap((field) =>
    typeof texts[field] === 'string'
      ? parseTemplate(texts[field]).errors.map(({ message: said }) => ({ path: `${path}.${field}`, message: said }))
      : [],
  );
}
