import type { OrgScope } from '../../../db/tenancy.ts';
import type { Problem } from '../../../lib/errors.ts';
import { buildCheckedSteps, type NewStep } from '../build-steps.ts';
import type { StepInput, VariantInput } from '../input.ts';
import type { RunStep } from './input.ts';
import { message } from '../../../messages/index.ts';

/** The campaign steps and variants of a run, with their problems. */
export interface PlannedSteps {
  steps: readonly NewStep[];
  /** Variants of all emails that have several texts. */
  variants: readonly VariantInput[];
  problems: Problem[];
  /** Problems of app connections that the workspace does not have. The API has a separate error code for them. */
  connectionProblems: Problem[];
}

/** Name of the field that contains the content of a step, by the step's type. */
const BODY_OF = {
  email: 'variants',
  app_action: 'app_action',
  wait_for_event: 'wait_for_event',
  wait: 'wait',
} as const satisfies Record<RunStep['type'], keyof RunStep>;

/**
 * Converts the steps of a run to campaign steps, connected in order, and lists every problem. App connections may be
 * named by id or name.
 */
export async function planSteps(org: OrgScope, inputs: readonly RunStep[]): Promise<PlannedSteps> {
  const connections = await connectionIds(org, inputs);
  const shape = inputs.flatMap(shapeProblems);
  const connectionProblems = inputs.flatMap((step, index) =>
    step.type === 'app_action' && step.app_action && !connections.has(step.app_action.connection.toLowerCase())
      ? [{ path: `body.steps.${index}.app_action.connection`, message: message('directory.unknown_app_connection') }]
      : [],
  );
  if (shape.length > 0 || connectionProblems.length > 0)
    return { steps: [], variants: [], problems: shape, connectionProblems };
  const converted = inputs.map((step) => toCampaignStep(step, connections));
  const { steps, problems } = await buildCheckedSteps(org, converted);
  const variants = inputs.flatMap((step, index) => variantsOf(step, steps[index]!.id));
  return { steps, variants, problems, connectionProblems };
}

/** Checks that a step has the content field of its type and no content field of another type. */
function shapeProblems(step: RunStep, index: number): Problem[] {
  const needed = BODY_OF[step.type];
  return Object.values(BODY_OF).flatMap((field) => {
    const given = step[field] !== undefined;
    const path = `body.steps.${index}.${field}`;
    if (field === needed)
      return given ? [] : [{ path, message: message('runs.required_by_step', { type: step.type }) }];
    return given ? [{ path, message: message('runs.not_of_step', { type: step.type }) }] : [];
  });
}

/** Returns the ids of app connections used by the steps, by lower-case id and by lower-case name. */
async function connectionIds(org: OrgScope, inputs: readonly RunStep[]): Promise<Map<string, string>> {
  const names = [...new Set(inputs.flatMap(({ app_action: call }) => (call ? [call.connection.toLowerCase()] : [])))];
  if (names.length === 0) return new Map();
  const rows = await org.sql<{ id: string; name: string }>(
    `select id, lower(name) as name from app_connections
     where organization_id = :org and (lower(name) = any(:names::text[]) or id::text = any(:names::text[]))`,
    { names },
  );
  return new Map(rows.flatMap(({ id, name }) => [[name, id] as const]).concat(rows.map(({ id }) => [id, id] as const)));
}

function toCampaignStep(step: RunStep, connections: ReadonlyMap<string, string>): StepInput {
  const common = {
    name: step.name ?? '',
    subject: '',
    body_plain: '',
    body_html: '',
    offer: '',
    angle: '',
    cta: '',
    ...(step.wait_after === undefined ? {} : { wait_after: step.wait_after }),
  };
  switch (step.type) {
    case 'email': {
      const [first] = step.variants!;
      return {
        ...common,
        kind: 'email',
        subject: first!.subject,
        body_plain: first!.body_plain ?? '',
        body_html: first!.body_html ?? '',
      };
    }
    case 'app_action': {
      const { connection, path, output_key, inputs = {} } = step.app_action!;
      const id = connections.get(connection.toLowerCase())!;
      return {
        ...common,
        kind: 'action',
        action: { type: 'app_action', app_connection_id: id, path, output_key, inputs },
      };
    }
    case 'wait_for_event': {
      const { event, timeout_minutes = null, on_timeout = 'continue' } = step.wait_for_event!;
      return {
        ...common,
        kind: 'wait',
        action: { type: 'wait_for_event', wait_event_name: event, timeout_minutes, on_timeout },
      };
    }
    case 'wait':
      return { ...common, kind: 'wait', action: { type: 'wait', wait_minutes: step.wait!.minutes } };
  }
}

/**
 * Returns the variants of an email with several texts, named A, B, C …. The first variant is the baseline of the
 * comparison.
 */
function variantsOf(step: RunStep, stepId: string): VariantInput[] {
  if (step.type !== 'email' || step.variants!.length < 2) return [];
  return step.variants!.map(({ subject, body_plain = '', body_html = '', weight }, index) => ({
    step_id: stepId,
    name: String.fromCharCode(65 + index),
    subject,
    body_plain,
    body_html,
    is_control: index === 0,
    ...(weight === undefined ? {} : { weight }),
  }));
}
