import { z } from 'zod';
import { appPath, MAX_WAIT_MINUTES } from '../../sending/campaign/actions.ts';
import type { ACTION_RIGHTS } from '../../approvals/automation-rights.ts';
import { dealFields, rowId, taskFields, taskTypeName } from '../../sending/campaign/crm-actions.ts';

const VALUES = 'May use fields of the trigger and of `.contact`';
const template = (max: number) => z.string().min(1).max(max).meta({ description: VALUES });
const category = { category_id: rowId };

/** Tables whose rows a config names. */
export type NamedTable =
  | 'labels'
  | 'campaigns'
  | 'crm_pipelines'
  | 'crm_stages'
  | 'memberships'
  | 'app_connections'
  | 'automations';

/** What is known of a native action before it runs. */
interface ActionDeclaration {
  config: z.ZodType<Record<string, unknown>>;
  /** It does something to the contact of the event. */
  needsContact: boolean;
  /** Fields of the config that name rows of the workspace. */
  names: Readonly<Record<string, NamedTable>>;
}

const declare = (
  config: z.ZodType<Record<string, unknown>>,
  names: Readonly<Record<string, NamedTable>> = {},
  needsContact = true,
): ActionDeclaration => ({ config, names, needsContact });

/**
 * The actions that Heron does by itself; what each asks of its author is in `ACTION_RIGHTS`. Those of providers are declared by their integrations. Names are
 * stored in graphs: one that is published is never renamed.
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

/** The name of an action that Heron does by itself. */
export type NativeAction = keyof typeof NATIVE_ACTIONS;

/** Whether a name is an action that Heron does by itself. */
export function isNative(action: string | undefined): action is NativeAction {
  return action !== undefined && Object.hasOwn(NATIVE_ACTIONS, action);
}

/** The config of a native action with its defaults. */
export type ConfigOf<A extends NativeAction> = z.output<(typeof NATIVE_ACTIONS)[A]['config']>;
