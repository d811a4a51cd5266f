import { z } from 'zod';
import { dealFields, rowId, taskFields, taskTypeName } from './crm-actions.ts';
import { ruleMessage } from '../../../lib/issue-message.ts';

const OUTPUT_KEY = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const EVENT_NAME = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/;
/** Maximum length (minutes) of a wait step: one year. */
export const MAX_WAIT_MINUTES = 366 * 24 * 60;
/** Minimum timeout (minutes) of a wait for an event. Fractions of a minute are useful to test a campaign. */
const MIN_TIMEOUT_MINUTES = 0.1;

/** Name under which later steps find an app's response or an event's data. */
export const outputKey = z.string().regex(OUTPUT_KEY, ruleMessage('steps.output_key'));

/** Path below the base URL of an app connection. */
export const appPath = z
  .string()
  .max(2048)
  .regex(/^\/[^\s]*$/, ruleMessage('steps.app_path'));

/** Name of a product event. */
export const eventName = z.string().max(120).regex(EVENT_NAME, ruleMessage('directory.event_name'));

const MERGE_FIELDS = 'May use the merge fields of emails';

/**
 * Action of a step that is not an email. `app_action` calls the customer's app, the waits delay the lead, and all
 * others take effect at once.
 */
export const stepActionSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('app_action'),
    app_connection_id: z.uuid(),
    path: appPath,
    /** The response is stored as `.App.<output_key>`. */
    output_key: outputKey,
    /** Object sent to the app. Its strings may use merge fields. */
    inputs: z.record(z.string(), z.unknown()).default({}),
  }),
  z.strictObject({
    type: z.literal('wait_for_event'),
    wait_event_name: eventName,
    /** Maximum wait. Null for no time limit. */
    timeout_minutes: z.number().min(MIN_TIMEOUT_MINUTES).max(MAX_WAIT_MINUTES).nullable().default(null),
    on_timeout: z.enum(['continue', 'stop']).default('continue'),
    /** The event's data is stored as `.App.<output_key>`. */
    output_key: outputKey.optional(),
  }),
  z.strictObject({ type: z.literal('wait'), wait_minutes: z.int().min(1).max(MAX_WAIT_MINUTES) }),
  z.strictObject({ type: z.literal('add_tag'), category_id: z.uuid() }),
  z.strictObject({ type: z.literal('remove_tag'), category_id: z.uuid() }),
  z.strictObject({ type: z.literal('unsubscribe') }),
  z.strictObject({ type: z.literal('notify'), message: z.string().max(2000).default('') }),
  z.strictObject({
    type: z.literal('create_task'),
    ...taskFields(MERGE_FIELDS),
    task_type: taskTypeName
      .optional()
      .meta({ description: 'Name of a task type of the workspace; the first one without it' }),
  }),
  z.strictObject({ type: z.literal('create_deal'), ...dealFields(MERGE_FIELDS) }),
  /** Moves the contact's newest open deal. */
  z.strictObject({ type: z.literal('move_deal_stage'), stage_id: rowId }),
  z.strictObject({ type: z.literal('run_automation'), automation_id: z.uuid() }),
  z.strictObject({ type: z.literal('end') }),
]);

export type StepAction = z.output<typeof stepActionSchema>;
