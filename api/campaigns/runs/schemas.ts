import { z } from 'zod';
import { createRunSchema } from '../../../domain/campaigns/runs/input.ts';
import { RUN_STATES } from '../../../domain/campaigns/runs/states.ts';
import { paged, resource, runFields, timestamp, uuid } from '../../http/schemas.ts';

/** Maximum size (bytes) of a run request: five thousand leads with their fields, or as much text in steps. */
export const RUN_BODY_LIMIT = 4 * 1024 * 1024;

const anything = z.record(z.string(), z.unknown());

/** Stored request without its leads, which are contacts of the workspace. */
const storedInput = z.looseObject(createRunSchema.omit({ leads: true }).shape);

export const run = resource('Run', {
  id: uuid,
  state: z.enum(RUN_STATES),
  intent: z.enum(['draft', 'launch']),
  input: storedInput.meta({
    description: 'Request without `leads`, which are now contacts. Lists omit `steps` as well',
  }),
  policy_decision: anything.meta({
    description:
      '`decision` is undecided, execute, awaiting_approval (with `reasons`, each a code and a message) or, for a draft, not_needed',
  }),
  campaign_id: uuid.meta({ description: 'Campaign that the run built or used' }),
  frozen_sender_ids: z.array(uuid).meta({ description: 'Mailboxes selected when the run was created' }),
  recipient_count: z.int(),
  action_count: z.int().meta({ description: 'Maximum number of app calls that the recipients can cause' }),
  preflight_report: anything.optional().meta({ description: 'Findings of the latest checks; absent before them' }),
  error_details: anything.optional().meta({ description: 'Reason of a failure or denial: `code`, `message`, `fix`' }),
  approval_id: uuid.optional().meta({ description: 'Latest approval of the run; absent if it needed none' }),
  approval_url: z
    .url()
    .optional()
    .meta({ description: 'Page where a person decides; present while the run is awaiting_approval' }),
  approval_expires_at: timestamp
    .optional()
    .meta({ description: 'End of the approval; present while the run is awaiting_approval' }),
  dry_run: z.literal(true).optional().meta({ description: 'Only after a dry run, whose `id` names no run' }),
  created_at: timestamp,
  updated_at: timestamp,
  ...runFields,
});

/** Query of POST /runs. */
export const createQuery = z.object({
  dry_run: z.enum(['true', 'false']).optional().meta({ description: 'true: checks everything and stores nothing' }),
});

export const runEvent = resource('RunEvent', {
  seq: z.int().meta({ description: 'Counts from 1, without gaps' }),
  type: z.enum(['created', 'state_changed']),
  state: z.enum(RUN_STATES),
  previous_state: z.enum(RUN_STATES).nullable(),
  data: anything.meta({ description: '`reason` is the cause, as a code' }),
  actor: z.strictObject({ kind: z.string(), user_id: uuid.nullable() }),
  created_at: timestamp,
});

export const runDetail = resource('RunDetail', {
  ...run.shape,
  events: z.array(runEvent).meta({ description: 'Everything that happened to the run, oldest first; append-only' }),
});
export const runPage = paged(run);
