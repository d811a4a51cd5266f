import type { StepAction } from '../../sending/campaign/actions.ts';
import type { StepConditions } from '../../sending/campaign/graph.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { isUuid } from '../../../lib/ids.ts';
import { parseTemplate, renderTemplate, WorkBudget } from '../../mail/messages/template.ts';
import { mergeValues, type MessageContact } from '../../mail/messages/values.ts';

type AppAction = Extract<StepAction, { type: 'app_action' }>;

/** Data of one call to a customer's app. */
export interface ActionCall {
  runId: string;
  /** `live`: the call belongs to a lead. `test`: the call belongs to a test run. */
  mode: 'live' | 'test';
  attempts: number;
  enrollment: { id: string; app_values: Record<string, unknown> };
  campaign: { id: string; name: string };
  step: { id: string; name: string; position: number; kind: 'email' | 'action' | 'wait'; conditions: StepConditions };
  action: AppAction;
  contact: MessageContact & { id: string; custom_fields: Record<string, unknown> };
  /** App connection of the call. Null if the connection was deleted. */
  connection: { id: string; base_url: string; secret: Buffer } | null;
}

interface CallRow extends Omit<ActionCall, 'runId' | 'mode' | 'action' | 'connection'> {
  action: StepAction | null;
  connection_id: string | null;
  base_url: string | null;
  secret: Buffer | null;
}

/**
 * Reads the current data of a waiting call. Returns undefined when the step run no longer needs a call. A call is no
 * longer needed if the step run has ended, is paused or held, or if its step was changed to another kind. The workflow
 * then requests its next decision.
 * @param now time (UTC) at which holds are checked
 */
export async function readActionCall(org: OrgScope, stepRunId: string, now: Date): Promise<ActionCall | undefined> {
  if (!isUuid(stepRunId)) return undefined;
  const [row] = await org.sql<CallRow>(
    `select r.attempts,
       json_build_object('id', e.id, 'app_values', e.app_values) as enrollment,
       ${columnsOf('ct.email')}
     from step_runs r
     join enrollments e on e.id = r.enrollment_id
     join campaigns c on c.id = r.campaign_id
     join campaign_steps s on s.id = r.step_id
     join contacts ct on ct.id = r.contact_id
     left join app_connections a on a.id = s.app_connection_id and a.organization_id = :org
     where r.organization_id = :org and r.id = :id and r.state in ('running', 'waiting')
       and e.state = 'active' and c.status = 'active'
       and (e.hold_since is null or e.hold_until <= :now)`,
    { id: stepRunId, now },
  );
  return row && toCall(row, stepRunId, 'live');
}

/**
 * Variant of {@link readActionCall} for a step of a test run. The call contains the test's email address in place of
 * the contact's.
 */
export async function readTestCall(org: OrgScope, stepId: string): Promise<ActionCall | undefined> {
  const [row] = await org.sql<CallRow>(
    `select t.attempts,
       json_build_object('id', r.id, 'app_values', r.app_values) as enrollment,
       ${columnsOf('r.prospect_email')}
     from test_run_steps t
     join test_runs r on r.id = t.test_run_id
     join campaigns c on c.id = r.campaign_id
     join campaign_steps s on s.id = t.step_id
     join contacts ct on ct.id = r.contact_id
     left join app_connections a on a.id = s.app_connection_id and a.organization_id = :org
     where t.organization_id = :org and t.id = :id and t.state = 'running' and r.state = 'running'`,
    { id: stepId },
  );
  return row && toCall(row, stepId, 'test');
}

/**
 * Returns the SQL columns for campaign, step, contact and connection of a call. `email` is the SQL expression for the
 * contact's address.
 */
const columnsOf = (email: string): string => `json_build_object('id', c.id, 'name', c.name) as campaign,
       json_build_object('id', s.id, 'name', s.name, 'position', s.position, 'kind', s.kind, 'conditions', s.conditions) as step,
       s.action,
       json_build_object('id', ct.id, 'email', ${email}, 'first_name', ct.first_name, 'last_name', ct.last_name,
         'company', ct.company, 'phone', ct.phone, 'custom_fields', ct.custom_fields) as contact,
       a.id as connection_id, a.base_url, a.secret`;

function toCall(row: CallRow, runId: string, mode: ActionCall['mode']): ActionCall | undefined {
  const { action, connection_id: id, base_url: baseUrl, secret, ...rest } = row;
  if (action?.type !== 'app_action') return undefined;
  const connection = id && baseUrl !== null && secret ? { id, base_url: baseUrl, secret } : null;
  return { ...rest, runId, mode, action, connection };
}

/**
 * Builds the body of an app.action. `id` identifies campaign, contact and step; `run_id` identifies this execution.
 */
export function actionBody(call: ActionCall, requestedAt: Date): object {
  const { campaign, contact, step, enrollment, action } = call;
  return {
    id: `${campaign.id}:${contact.id}:${step.id}`,
    run_id: call.runId,
    run_mode: call.mode,
    campaign: { id: campaign.id, name: campaign.name },
    step: { id: step.id, name: step.name },
    contact: {
      id: contact.id,
      email: contact.email,
      first_name: contact.first_name,
      company: contact.company,
      custom_fields: contact.custom_fields,
    },
    app: enrollment.app_values,
    inputs: renderInputs(action.inputs, mergeValues(contact, enrollment.app_values)),
    requested_at: requestedAt.toISOString(),
  };
}

/** Thrown when rendering a step's inputs exceeds the limit of template work for one email. */
export class InputsTooLarge extends Error {}

/**
 * Fills in the merge fields of step inputs, at any depth. Values that are not strings are returned unchanged.
 * @throws InputsTooLarge when all inputs together exceed the limit of length or template work
 */
export function renderInputs(input: unknown, values: object, budget = new WorkBudget()): unknown {
  if (typeof input === 'string') {
    const { text, exceeded } = renderTemplate(parseTemplate(input), values, { budget });
    if (exceeded) throw new InputsTooLarge();
    return text;
  }
  if (Array.isArray(input)) return input.map((element) => renderInputs(element, values, budget));
  if (typeof input !== 'object' || input === null) return input;
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [key, renderInputs(value, values, budget)]));
}
