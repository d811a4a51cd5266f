import { z } from 'zod';
import { definitionFields, GOAL_KINDS, lacksCurrency } from '../../../domain/reporting/goals/definition.ts';
import { predicateSchema } from '../../../domain/directory/predicates/predicate.ts';
import { besideFaults, inputTimestamp, named, resource, runFields, timestamp, uuid } from '../../http/schemas.ts';
import { ruleMessage } from '../../../lib/issue-message.ts';

const name = z.string().trim().min(1).max(255);
const kind = z.enum(GOAL_KINDS);
named('Predicate', predicateSchema);

const definition = z.strictObject(definitionFields).superRefine((given, context) => {
  if (lacksCurrency(given))
    context.addIssue({ code: 'custom', path: ['value_path'], message: ruleMessage('reporting.needs_currency') });
}, besideFaults);

export const createBody = z.strictObject({
  name,
  kind: kind.meta({ description: 'Stage of the funnel; it cannot change later' }),
  is_primary: z.boolean().default(false).meta({ description: 'Replaces the primary goal of the stage' }),
  definition,
});

export const updateBody = z.strictObject({
  name: name.optional(),
  is_primary: z.boolean().optional(),
  definition: definition.optional().meta({ description: 'Whole definition: omitted fields get their defaults' }),
});

export const previewBody = z.strictObject({
  definition,
  days: z.int().min(1).max(366).default(30).meta({ description: 'Number of days back from now' }),
});

export const rangeBody = z.strictObject({
  from: inputTimestamp.meta({ description: 'Events that occurred at this time or later' }),
  to: inputTimestamp.meta({ description: 'Events that occurred before this time; at most 366 days after `from`' }),
});

export const listQuery = z.object({
  include_archived: z.enum(['true', 'false']).default('false').meta({ description: '`true` includes archived goals' }),
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
  is_primary: z.boolean().meta({ description: 'True if reports of its stage use it' }),
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
        created_at: timestamp.meta({ description: 'Start of its validity, for events received from then on' }),
        created_by: uuid.nullable().meta({ description: 'User who created it; null without one' }),
      }),
    )
    .meta({ description: 'Every version of the definition, the latest first' }),
});

const count = z.int().nonnegative();

export const goalPreview = resource('GoalPreview', {
  from: timestamp,
  to: timestamp,
  scanned: count.meta({ description: 'Number of events with this name' }),
  matched: count,
  people: count.meta({ description: 'Number of distinct people' }),
  with_value: count.meta({ description: 'Matching events with a valid amount' }),
  values: z.array(
    z.strictObject({
      currency: z.string(),
      amount_minor: count.nullable().meta({ description: 'Null when it is too large for a JSON number' }),
      conversions: count,
    }),
  ),
});

const retained = count.meta({ description: 'Conversions whose event was pruned; they are kept' });
const scanned = count.meta({
  description: 'Events matched against the definition: those of its name, and those that counted before',
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
  goal_revision: z.int().meta({ description: 'Revision of the definition used' }),
  from: timestamp,
  to: timestamp,
  state: z.enum(['queued', 'running', 'completed', 'failed', 'cancelled']),
  error: z.string().nullable().meta({ description: '`goal_changed`: the goal was edited or archived before the end' }),
  reached: timestamp.nullable().meta({ description: 'Progress: events up to this time are done' }),
  scanned,
  added: count,
  removed: count,
  kept: count,
  retained_without_event: retained,
  passed_over: z.array(uuid).meta({
    description:
      'Events that kept failing and were skipped; at most 20. They are included in `scanned`, and each is a dead letter (goal_replay_event) that can be replayed',
  }),
  ...runFields,
  created_at: timestamp,
  started_at: timestamp.nullable(),
  finished_at: timestamp.nullable(),
});

export const replays = z.strictObject({ data: z.array(replay) });
