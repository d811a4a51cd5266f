import { z } from 'zod';
import { ACTIVITY_TYPES } from '../../domain/crm/activities.ts';
import { DEAL_SORTS } from '../../domain/crm/deal-search.ts';
import { DEAL_STATUSES } from '../../domain/crm/deals.ts';
import { MAX_STAGES } from '../../domain/crm/pipelines.ts';
import { TASK_SORTS } from '../../domain/crm/task-search.ts';
import { TASK_STATUSES } from '../../domain/crm/tasks.ts';
import { DEFAULT_CURRENCY, TASK_PRIORITIES } from '../../domain/sending/campaign/crm-actions.ts';
import { isCurrency, MAX_MINOR_UNITS, exactMinorUnits } from '../../lib/money.ts';
import { ruleMessage } from '../../lib/issue-message.ts';
import { besideFaults, inputTimestamp, resource, timestamp, uuid } from '../http/schemas.ts';

const name = z.string().trim().min(1).max(255);
export const color = z
  .string()
  .regex(/^#[0-9a-fA-F]{6}$/, ruleMessage('directory.color'))
  .toLowerCase();
const id = z.uuid().toLowerCase();
const ids = z.array(id).max(1000);
const position = z.int().min(1).max(1000).meta({ description: 'Position, from 1; larger values move it to the end' });

export const stageCreate = z.strictObject({ name, color });
export const stageUpdate = z.strictObject({
  name: name.optional(),
  color: color.optional(),
  position: position.optional(),
});
export const pipelineCreate = z.strictObject({
  name,
  stages: z.array(stageCreate).max(MAX_STAGES).default([]).meta({ description: 'Stages in this order' }),
});
export const pipelineUpdate = z.strictObject({ name: name.optional() });

export const stage = resource('Stage', {
  id: uuid,
  pipeline_id: uuid,
  name: z.string(),
  color: z.string(),
  position: z.int().min(1),
  deal_count: z
    .int()
    .min(0)
    .optional()
    .meta({ description: 'Number of deals in the stage; present if a pipeline is read' }),
  created_at: timestamp,
  updated_at: timestamp,
});
export const pipeline = resource('Pipeline', {
  id: uuid,
  organization_id: uuid,
  name: z.string(),
  position: z.int().min(1),
  stages: z.array(stage).meta({ description: 'Stages in their order' }),
  created_at: timestamp,
  updated_at: timestamp,
});

const currency = z
  .string()
  .length(3)
  .toUpperCase()
  .refine(isCurrency, ruleMessage('directory.currency'))
  .meta({ description: `ISO 4217. Default for a new deal: ${DEFAULT_CURRENCY}` });
const value = z
  .number()
  .min(0)
  .max(MAX_MINOR_UNITS)
  .meta({ description: 'In units of the currency, such as 19.99; no more decimal places than the currency has' });

/** Checks that an amount is no more precise than its currency allows. Amounts are refused, never rounded. */
function fits({ value: amount, currency: code = DEFAULT_CURRENCY }: { value?: unknown; currency?: unknown }): boolean {
  if (typeof amount !== 'number' || typeof code !== 'string' || !isCurrency(code)) return true;
  // An amount out of range already causes another error.
  if (amount < 0 || amount > MAX_MINOR_UNITS) return true;
  return exactMinorUnits(amount, code) !== null;
}
const misfit = {
  path: ['value'],
  error: ({ input }: { input?: unknown }) => {
    const code = (input as { currency?: string }).currency ?? DEFAULT_CURRENCY;
    return ruleMessage('crm.amount_misfit', { currency: code });
  },
};

const newDeal = {
  contact_id: id.nullable().optional(),
  name,
  value: value.nullable().optional(),
  currency: currency.optional(),
  expected_close_date: inputTimestamp.nullable().optional(),
  assigned_to: id.nullable().optional().meta({ description: 'Member of the workspace' }),
};
export const dealCreate = z
  .strictObject({
    pipeline_id: id,
    stage_id: id,
    ...newDeal,
    campaign_id: id.nullable().optional(),
    source_mailbox_id: id.nullable().optional().meta({ description: 'Mailbox of the reply that the deal came from' }),
  })
  .refine(fits, { ...misfit, ...besideFaults });
export const dealUpdate = z.strictObject({
  stage_id: id.optional(),
  ...newDeal,
  name: name.optional(),
  status: z.enum(DEAL_STATUSES).optional(),
  lost_reason: z.string().trim().max(1000).nullable().optional(),
});

export const dealFilters = resource('DealSearch', {
  query: z.string().max(255).optional().meta({ description: 'Part of the name, ignoring case' }),
  statuses: z.array(z.enum(DEAL_STATUSES)).optional(),
  pipeline_ids: ids.optional(),
  stage_ids: ids.optional(),
  assigned_to: ids.optional(),
  campaign_ids: ids.optional(),
  min_value: z.number().optional(),
  max_value: z.number().optional(),
  close_after: inputTimestamp.optional(),
  close_before: inputTimestamp.optional(),
  created_after: inputTimestamp.optional(),
  created_before: inputTimestamp.optional(),
  sort_by: z.enum(DEAL_SORTS).optional(),
  reverse: z.boolean().optional().meta({ description: 'True sorts ascending' }),
});

const dealFields = {
  id: uuid,
  organization_id: uuid,
  pipeline_id: uuid,
  stage_id: uuid,
  contact_id: uuid.nullable(),
  name: z.string(),
  value: z.number().nullable(),
  currency: z.string(),
  status: z.enum(DEAL_STATUSES),
  expected_close_date: timestamp.nullable(),
  won_at: timestamp.nullable(),
  lost_at: timestamp.nullable(),
  lost_reason: z.string().nullable(),
  assigned_to: uuid.nullable(),
  campaign_id: uuid.nullable(),
  source_mailbox_id: uuid.nullable(),
  created_at: timestamp,
  updated_at: timestamp,
};
export const deal = resource('Deal', dealFields);
export const foundDeal = resource('FoundDeal', {
  ...dealFields,
  contact: z
    .strictObject({
      id: uuid,
      email: z.string(),
      first_name: z.string(),
      last_name: z.string(),
      company: z.string(),
    })
    .nullable(),
  stage: z.strictObject({ id: uuid, name: z.string(), color: z.string(), position: z.int() }),
  campaign_name: z.string().nullable(),
});
const count = z.int().min(0);
const sum = z.number();
export const dealsSummary = resource('DealsSummary', {
  total: count,
  open_count: count,
  open_value: sum,
  won_count: count,
  won_value: sum,
  lost_count: count,
  lost_value: sum,
  currency: z.string().meta({ description: 'Currency of the sums; if there are several, the most common one' }),
  stages: z.array(z.strictObject({ stage_id: uuid, count, value: sum.meta({ description: 'Sums of open deals' }) })),
  mixed_currency: z
    .boolean()
    .meta({ description: 'True if the sums add amounts of several currencies and are approximate' }),
});

const typeName = z.string().trim().min(1).max(60);
export const taskTypeCreate = z.strictObject({ name: typeName, color: color.optional() });
export const taskTypeUpdate = z.strictObject({
  name: typeName.optional(),
  color: color.optional(),
  position: position.optional(),
});
export const taskType = resource('TaskType', {
  id: uuid,
  organization_id: uuid,
  name: z.string(),
  color: z.string(),
  position: z.int().min(1),
  created_at: timestamp,
  updated_at: timestamp,
});

const taskEdit = {
  assigned_to: id.nullable().optional().meta({ description: 'Member of the workspace' }),
  assigned_team_id: id.nullable().optional(),
  description: z.string().max(10_000).nullable().optional(),
  due_date: inputTimestamp.nullable().optional(),
  priority: z.enum(TASK_PRIORITIES).optional(),
  type: typeName.optional().meta({ description: 'Name of a task type' }),
};
export const taskCreate = z.strictObject({
  title: name,
  contact_id: id.nullable().optional(),
  deal_id: id.nullable().optional(),
  ...taskEdit,
});
export const taskUpdate = z.strictObject({
  title: name.optional(),
  ...taskEdit,
  status: z.enum(TASK_STATUSES).optional(),
});

export const taskSearch = resource('TaskSearch', {
  query: z
    .string()
    .max(255)
    .optional()
    .meta({ description: 'Part of the title, ignoring case; of a title with a code, of its English text' }),
  statuses: z.array(z.enum(TASK_STATUSES)).optional(),
  priorities: z.array(z.enum(TASK_PRIORITIES)).optional(),
  types: z.array(z.string().max(60)).max(100).optional().meta({ description: 'Names of task types' }),
  assigned_to: z.array(z.string()).max(1000).optional(),
  team_ids: ids.optional().meta({ description: 'Tasks of these teams and of their members' }),
  contact_id: z.string().optional(),
  deal_id: z.string().optional(),
  due_after: inputTimestamp.optional(),
  due_before: inputTimestamp.optional(),
  overdue: z.boolean().optional().meta({ description: 'Past due, and neither completed nor cancelled' }),
  sort_by: z.enum(TASK_SORTS).optional(),
  reverse: z.boolean().optional().meta({ description: 'True sorts ascending' }),
});

const selection = {
  tasks: z.array(z.string()).optional().meta({ description: 'Task ids, at most 1000' }),
  all: z.boolean().optional(),
  filters: taskSearch.optional().meta({ description: 'Filters of `all`; {} selects every task' }),
  exclude: z.array(z.string()).optional().meta({ description: 'Ids excluded from `all`; at most 50000' }),
};
interface Selection {
  tasks?: unknown;
  all?: unknown;
  filters?: unknown;
}
const isSelection = ({ tasks, all, filters }: Selection): boolean =>
  all === true ? filters !== undefined && tasks === undefined : Array.isArray(tasks) && tasks.length > 0;
const selectionRule = { path: [], error: ruleMessage('crm.selection_form'), ...besideFaults };

export const tasksUpdate = z
  .strictObject({
    ...selection,
    status: z.enum(TASK_STATUSES).optional(),
    priority: z.enum(TASK_PRIORITIES).optional(),
  })
  .refine(isSelection, selectionRule)
  .refine(({ status, priority }) => status !== undefined || priority !== undefined, {
    path: [],
    error: ruleMessage('crm.nothing_to_change'),
    ...besideFaults,
  });
export const tasksDelete = z.strictObject(selection).refine(isSelection, selectionRule);
export const affected = z.strictObject({ affected: count });

export const task = resource('Task', {
  id: uuid,
  organization_id: uuid,
  contact_id: uuid.nullable(),
  deal_id: uuid.nullable(),
  assigned_to: uuid.nullable(),
  assigned_team_id: uuid.nullable(),
  created_by: uuid.nullable().meta({ description: 'Null for a task created by a reply' }),
  title: z.string().meta({ description: 'Words of a person, or text in the language of the request' }),
  title_code: z
    .string()
    .nullable()
    .meta({ description: 'Code of a title that no person wrote; null for the words of a person' }),
  description: z.string().nullable(),
  description_code: z.string().nullable().meta({ description: 'As `title_code`' }),
  due_date: timestamp.nullable(),
  priority: z.enum(TASK_PRIORITIES),
  type: z.string().meta({ description: 'Name of a task type, which may have been deleted' }),
  status: z.enum(TASK_STATUSES),
  completed_at: timestamp.nullable(),
  created_at: timestamp,
  updated_at: timestamp,
});
export const tasksSummary = resource('TasksSummary', {
  total: count,
  pending_count: count,
  in_progress_count: count,
  completed_count: count,
  cancelled_count: count,
  overdue_count: count,
  high_priority_count: count.meta({ description: 'Tasks of high and urgent priority' }),
});

export const activity = resource('Activity', {
  id: uuid,
  contact_id: uuid,
  organization_id: uuid,
  user_id: uuid.nullable(),
  activity_type: z.enum(ACTIVITY_TYPES),
  metadata: z
    .record(z.string(), z.unknown())
    .meta({ description: 'Ids of the deal, its stages, the task, the meeting, the note' }),
  created_at: timestamp,
  user: z.strictObject({ id: uuid, name: z.string() }).nullable(),
});

const noteContent = z.string().trim().min(1).max(10_000);
export const noteCreate = z.strictObject({ content: noteContent });
export const noteUpdate = z.strictObject({ content: noteContent.optional() });
export const noteParams = z.object({ id: z.string(), noteId: z.string() });
export const note = resource('ContactNote', {
  id: uuid,
  contact_id: uuid,
  organization_id: uuid,
  user_id: uuid.nullable(),
  content: z.string(),
  created_at: timestamp,
  updated_at: timestamp,
  user: z
    .strictObject({ id: uuid, name: z.string() })
    .nullable()
    .meta({ description: 'Author; null for a deleted account' }),
});
