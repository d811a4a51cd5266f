import { z } from 'zod';
import { MAX_EDGES, MAX_NODES } from '../../../domain/connect/automations/graph.ts';
import { resource, runFields, timestamp, uuid } from '../../http/schemas.ts';
import { ruleMessage } from '../../../lib/issue-message.ts';

const nodeId = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, ruleMessage('connect.node_id'));
const openObject = z.record(z.string(), z.unknown());
const position = z.number().min(-1e9).max(1e9);
const nodeType = z.enum(['trigger', 'condition', 'action']);

const condition = resource('AutomationCondition', {
  field: z.enum(['field', 'expression']).meta({ description: 'Kind of condition' }),
  key: z.string().max(400).optional().meta({ description: 'Dot path into the data of the event, such as `intent`' }),
  operator: z
    .string()
    .max(20)
    .optional()
    .meta({ description: 'eq, neq, in, not_in, gt, gte, lt, lte, contains, exists or not_exists' }),
  value: z.unknown().optional(),
  expression: z
    .string()
    .max(2000)
    .optional()
    .meta({ description: 'Template that prints `true` if the condition holds, such as `{{ eq .intent "positive" }}`' }),
});

const node = resource('AutomationNode', {
  id: nodeId.meta({ description: 'Node id; `trigger` for the trigger' }),
  type: nodeType,
  action: z.string().max(100).optional().meta({ description: 'Action of an action node, such as `sendsets.add_tag`' }),
  connection_id: z.uuid().nullable().optional().meta({ description: "Connection of a provider's action" }),
  config: openObject.optional(),
  condition: condition.optional(),
  x: position,
  y: position,
});

const edge = resource('AutomationEdge', {
  id: z.string().min(1).max(64),
  source: z.string().max(64),
  target: z.string().max(64),
  when: z
    .enum(['', 'true', 'false'])
    .default('')
    .meta({ description: '`true` or `false` for an edge from a condition, else empty' }),
});

const graph = resource('AutomationGraph', {
  nodes: z.array(node).min(1).max(MAX_NODES),
  edges: z.array(edge).max(MAX_EDGES),
});

const filter = z.strictObject({
  intents: z.array(z.string().max(50)).min(1).max(20).optional(),
  min_confidence: z.number().min(0).max(1).optional(),
  campaign_ids: z.array(z.uuid()).min(1).max(100).optional(),
});

export const automationBody = z.strictObject({
  name: z.string().trim().min(1).max(255),
  enabled: z.boolean().default(true),
  trigger_event: z
    .string()
    .max(100)
    .meta({ description: 'Trigger that starts the automation, or `automation.called`' }),
  filter: filter.default({}).meta({ description: "Filters the trigger's events. Omit to accept all" }),
  graph,
});

export const testBody = z.strictObject({
  data: openObject.optional().meta({ description: 'Event data. Default: a sample of the trigger' }),
});

export const runsQuery = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(200)
    .default(50)
    .meta({ description: 'Maximum number of runs, latest first' }),
});

const shown = resource('Automation', {
  id: uuid,
  organization_id: uuid,
  name: z.string(),
  enabled: z.boolean(),
  trigger_event: z.string(),
  filter,
  graph,
  created_at: timestamp,
  updated_at: timestamp,
});

const result = {
  node_id: z.string(),
  type: nodeType,
  action: z.string(),
  label: z.string(),
  status: z.enum(['success', 'error', 'skipped', 'branch_true', 'branch_false']),
  error: z.string(),
};

export const automation = z.strictObject({ automation: shown });
export const automations = z.strictObject({ automations: z.array(shown) });
export const deleted = z.strictObject({ deleted: z.literal(true) });
export const dryRun = z.strictObject({
  trace: z.array(resource('TracedNode', { ...result, preview: openObject })),
  data: openObject,
});

export const runs = z.strictObject({
  runs: z.array(
    resource('AutomationRun', {
      id: uuid,
      automation_id: uuid,
      organization_id: uuid,
      trigger_event: z.string(),
      status: z.enum(['running', 'success', 'error']),
      node_results: z.array(resource('NodeResult', result)),
      error_detail: z.string(),
      started_at: timestamp,
      finished_at: timestamp.nullable(),
      ...runFields,
    }),
  ),
});
