import { z } from 'zod';
import { definitionFields, GOAL_KINDS, lacksCurrency } from '../../../domain/reporting/goals/definition.ts';
import { predicateSchema } from '../../../domain/directory/predicates/predicate.ts';
import { besideFaults, inputTimestamp, named, resource, runFields, timestamp, uuid } from '../../http/schemas.ts';
import { says } from '../../../lib/issue-message.ts';

const name = z.string().trim().min(1).max(255);
const kind = z.enum(GOAL_KINDS);
named('Predicate', predicateSchema);

const definition = z.strictObject(definitionFields).superRefine((given, context) => {
  if (lacksCurrency(given))
    context.addIssue({ code: 'custom', path: ['value_path'], message: says('reporting.needs_currency') });
}, besideFaults);

export const createBody = z.strictObject({
  name,
  kind: kind.meta({ description: 'The stage of the funnel; it cannot change later' }),
  is_primary: z.boolean().default(false).meta({ description: 'Takes the place of the primary goal of the stage' }),
  definition,
});

export const updateBody = z.strictObject({
  name: name.optional(),
  is_primary: z.boolean().optional(),
  definition: definition.optional().meta({ description: 'The whole definition: what is left out has its default' }),
});

export const previewBody = z.strictObject({
  definition,
  days: z.int().min(1).max(366).default(30).meta({ description: 'How many days back from now' }),
});

export const rangeBody = z.strictObject({
  from: inputTimestamp.meta({ description: 'Events that occurred at this moment or later' }),
  to: inputTimestamp.meta({ description: 'Events that occurred before this moment; at most 366 days after `from`' }),
});

export const listQuery = z.strictObject({
  include_archived: z.enum(['true', 'false']).default('false').meta({ description: '`true` adds archived goals' }),
});

export const replayParams = z.object({ id: z.string(), replayId: z.string() });

const shownDefinition = resource('GoalDefinition', {
  event_name: z.string(),
  predicates: z.array(predicateSchema),
  value_path: z.string().nullable(),
  value_unit: z.enum(['minor', 'major']),
  currency_path: z.string().nullable(),
  default_currency: z.string().nullable(),
});

const goalFields = {
  id: uuid,
  name: z.string(),
  kind,
  is_primary: z.boolean().meta({ description: 'Whether the figures of its stage are read from it' }),
  definition: shownDefinition,
  revision: z.int().meta({ description: 'Number of its definition, from 1' }),
  archived_at: timestamp.nullable(),
  created_at: timestamp,
  updated_at: timestamp,
};

export const goal = resource('Goal', goalFields);
export const goals = z.strictObject({ data: z.array(goal) });

export const goalDetail = resource('GoalDetail', {
  ...goalFields,
  revisions: z
    .array(
      z.strictObject({
        revision: z.int(),
        definition: shownDefinition,
        created_at: timestamp.meta({ description: 'It counts for events received from then on' }),
        created_by: uuid.nullable().meta({ description: 'The user who made it, where one did' }),
      }),
    )
    .meta({ description: 'Every version of the definition, the latest first' }),
});

const count = z.int().nonnegative();

export const goalPreview = resource('GoalPreview', {
  from: timestamp,
  to: timestamp,
  scanned: count.meta({ description: 'Events of this name' }),
  matched: count,
  people: count.meta({ description: 'Each once' }),
  with_value: count.meta({ description: 'Matching events with a valid amount' }),
  values: z.array(
    z.strictObject({
      currency: z.string(),
      amount_minor: count.nullable().meta({ description: 'Null when it is too large for a JSON number' }),
      conversions: count,
    }),
  ),
});

const retained = count.meta({ description: 'Conversions whose event was pruned; they stay' });
const scanned = count.meta({
  description: 'Events that were held against the definition: those of its name, and those that counted before',
});

export const replayPreview = resource('GoalReplayPreview', {
  scanned,
  would_add: count,
  would_remove: count.meta({ description: 'Conversions whose event does not match' }),
  would_keep: count,
  retained_without_event: retained,
});

export const replay = resource('GoalReplay', {
  id: uuid,
  goal_id: uuid,
  goal_revision: z.int().meta({ description: 'The definition it holds events against' }),
  from: timestamp,
  to: timestamp,
  state: z.enum(['queued', 'running', 'completed', 'failed', 'cancelled']),
  error: z.string().nullable().meta({ description: '`goal_changed`: the goal was edited or archived before the end' }),
  reached: timestamp.nullable().meta({ description: 'How far it is: events up to this moment are done' }),
  scanned,
  added: count,
  removed: count,
  kept: count,
  retained_without_event: retained,
  passed_over: z.array(uuid).meta({
    description:
      'Events that kept failing, and that it went on without; at most 20. They are among `scanned`, and each is a dead letter (goal_replay_event), with which it is tried again',
  }),
  ...runFields,
  created_at: timestamp,
  started_at: timestamp.nullable(),
  finished_at: timestamp.nullable(),
});

export const replays = z.strictObject({ data: z.array(replay) });
