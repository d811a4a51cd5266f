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
    description: 'The request, without `leads`: they are contacts now. Lists leave out `steps` as well',
  }),
  policy_decision: anything.meta({
    description:
      '`decision` is undecided, execute, awaiting_approval (with `reasons`, each a code and a message) or, for a draft, not_needed',
  }),
  campaign_id: uuid.meta({ description: 'The campaign that the run built or took' }),
  frozen_sender_ids: z.array(uuid).meta({ description: 'The mailboxes that were chosen when the run was created' }),
  recipient_count: z.int(),
  action_count: z.int().meta({ description: 'Calls to apps that the recipients can lead to at most' }),
  preflight_report: anything.optional().meta({ description: 'What the latest checks found; absent before them' }),
  error_details: anything
    .optional()
    .meta({ description: 'Why the run failed or was denied: `code`, `message`, `fix`' }),
  approval_id: uuid.optional().meta({ description: 'The latest approval of the run; absent where it needed none' }),
  approval_url: z
    .url()
    .optional()
    .meta({ description: 'Where a person decides; present while the run is awaiting_approval' }),
  approval_expires_at: timestamp.optional().meta({ description: 'Present while the run is awaiting_approval' }),
  created_at: timestamp,
  updated_at: timestamp,
  ...runFields,
});

export const runEvent = resource('RunEvent', {
  seq: z.int().meta({ description: 'Counts from 1, without gaps' }),
  type: z.enum(['created', 'state_changed']),
  state: z.enum(RUN_STATES),
  previous_state: z.enum(RUN_STATES).nullable(),
  data: anything.meta({ description: '`reason` says why, as a code' }),
  actor: z.strictObject({ kind: z.string(), user_id: uuid.nullable() }),
  created_at: timestamp,
});

export const runDetail = resource('RunDetail', {
  ...run.shape,
  events: z
    .array(runEvent)
    .meta({ description: 'Everything that happened to the run, oldest first; only ever added to' }),
});
export const runPage = paged(run);
