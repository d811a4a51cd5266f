import { z } from 'zod';
import { appPath, MAX_WAIT_MINUTES } from '../../sending/campaign/actions.ts';
import type { ACTION_RIGHTS } from '../../approvals/automation-rights.ts';
import { dealFields, rowId, taskFields, taskTypeName } from '../../sending/campaign/crm-actions.ts';

const VALUES = 'May use fields of the trigger and of `.contact`';
const template = (max: number) => z.string().min(1).max(max).meta({ description: VALUES });
const category = { category_id: rowId };

/** Tables whose rows an action's config can reference. */
export type NamedTable =
  | 'labels'
  | 'campaigns'
  | 'crm_pipelines'
  | 'crm_stages'
  | 'memberships'
  | 'app_connections'
  | 'automations';

interface ActionDeclaration {
  config: z.ZodType<Record<string, unknown>>;
  /** True if the action changes the contact of the event. */
  needsContact: boolean;
  /** Config fields that contain ids of rows in the workspace, with the table of each. */
  names: Readonly<Record<string, NamedTable>>;
}

const declare = (
  config: z.ZodType<Record<string, unknown>>,
  names: Readonly<Record<string, NamedTable>> = {},
  needsContact = true,
): ActionDeclaration => ({ config, names, needsContact });

/**
 * Actions that Heron performs itself. `ACTION_RIGHTS` lists the rights each requires of its author; integrations
 * declare the actions of providers. The names are stored in graphs: never rename a published one.
 */
export const NATIVE_ACTIONS = {
  'sendsets.add_tag': declare(z.strictObject(category), {
    category_id: 'labels',
  }),
  'sendsets.remove_tag': declare(z.strictObject(category), {
    category_id: 'labels',
  }),
  'sendsets.set_category': declare(z.strictObject(category), {
    category_id: 'labels',
  }),
  'sendsets.label_email': declare(z.strictObject(category), { category_id: 'labels' }, false),
  'sendsets.create_task': declare(
    z.strictObject({ ...taskFields(VALUES), type: taskTypeName.optional() }),
    { assigned_to: 'memberships' },
    false,
  ),
  'sendsets.create_deal': declare(
    z.strictObject(dealFields(VALUES)),
    { pipeline_id: 'crm_pipelines', stage_id: 'crm_stages', assigned_to: 'memberships' },
    false,
  ),
  'sendsets.move_deal_stage': declare(z.strictObject({ stage_id: rowId }), { stage_id: 'crm_stages' }, false),
  'sendsets.add_to_campaign': declare(z.strictObject({ campaign_id: rowId }), {
    campaign_id: 'campaigns',
  }),
  'sendsets.remove_from_campaign': declare(z.strictObject({ campaign_id: rowId.optional() }), {
    campaign_id: 'campaigns',
  }),
  'sendsets.suppress': declare(z.strictObject({ reason: z.string().max(500).default('automation') })),
  'sendsets.notify': declare(z.strictObject({ message: template(2000) }), {}, false),
  'sendsets.webhook': declare(
    z.strictObject({
      app_connection_id: rowId,
      path: appPath,
      inputs: z.record(z.string(), z.unknown()).default({}),
    }),
    { app_connection_id: 'app_connections' },
    false,
  ),
  'sendsets.wait': declare(z.strictObject({ wait_minutes: z.int().min(1).max(MAX_WAIT_MINUTES) }), {}, false),
  'sendsets.run_automation': declare(z.strictObject({ automation_id: rowId }), { automation_id: 'automations' }, false),
} as const satisfies Record<keyof typeof ACTION_RIGHTS, ActionDeclaration>;

/** Name of an action that Heron performs itself, such as `sendsets.add_tag`. */
export type NativeAction = keyof typeof NATIVE_ACTIONS;

/** Returns true if Heron performs the action itself. */
export function isNative(action: string | undefined): action is NativeAction {
  return action !== undefined && Object.hasOwn(NATIVE_ACTIONS, action);
}

/** Config of a native action, with defaults applied. */
export type ConfigOf<A extends NativeAction> = z.output<(typeof NATIVE_ACTIONS)[A]['config']>;
