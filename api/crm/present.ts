import type { z } from 'zod';
import type { ActivityRow } from '../../domain/crm/activities.ts';
import type { FoundDeal } from '../../domain/crm/deal-search.ts';
import { dealValue, type DealRow } from '../../domain/crm/deals.ts';
import type { Pipeline, StageRow } from '../../domain/crm/pipelines.ts';
import type { NoteRow } from '../../domain/crm/notes.ts';
import type { TaskTypeRow } from '../../domain/crm/task-types.ts';
import { textsIn, type TaskRow } from '../../domain/crm/tasks.ts';
import type { Ctx } from '../../domain/platform/kernel/context.ts';
import { iso } from '../http/schemas.ts';
import type { activity, deal, foundDeal, note, pipeline, stage, task, taskType } from './schemas.ts';

/** Returns a stage of a pipeline. `deal_count` is set only in the answer for a whole pipeline. */
export function presentStage(row: StageRow): z.input<typeof stage> {
  return {
    id: row.id,
    pipeline_id: row.pipeline_id,
    name: row.name,
    color: row.color,
    position: row.position,
    ...(row.deal_count === undefined ? {} : { deal_count: row.deal_count }),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

/** Returns a pipeline with its stages in order. */
export function presentPipeline(row: Pipeline): z.input<typeof pipeline> {
  return {
    id: row.id,
    organization_id: row.organization_id,
    name: row.name,
    position: row.position,
    stages: row.stages.map(presentStage),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

/** Returns a deal for the answers of writes. `value` is in major units of its currency. */
export function presentDeal(row: DealRow): z.input<typeof deal> {
  return {
    id: row.id,
    organization_id: row.organization_id,
    pipeline_id: row.pipeline_id,
    stage_id: row.stage_id,
    contact_id: row.contact_id,
    name: row.name,
    value: dealValue(row),
    currency: row.currency,
    status: row.status,
    expected_close_date: iso(row.expected_close_date),
    won_at: iso(row.won_at),
    lost_at: iso(row.lost_at),
    lost_reason: row.lost_reason,
    assigned_to: row.assigned_to,
    campaign_id: row.campaign_id,
    source_mailbox_id: row.source_mailbox_id,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

/**
 * Returns a deal of a list or search with the names of its contact, stage and campaign, so that clients need no further
 * requests.
 */
export function presentFoundDeal(row: FoundDeal): z.input<typeof foundDeal> {
  const { contact, stage: place, campaign_name } = row;
  return { ...presentDeal(row), contact, stage: place, campaign_name };
}

/** Returns a custom task type of the workspace. */
export function presentTaskType(row: TaskTypeRow): z.input<typeof taskType> {
  return {
    id: row.id,
    organization_id: row.organization_id,
    name: row.name,
    color: row.color,
    position: row.position,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

/** Returns a task of a person or a team. A task may refer to a contact or a deal. */
export function presentTask(row: TaskRow, { language }: Pick<Ctx, 'language'>): z.input<typeof task> {
  return {
    id: row.id,
    organization_id: row.organization_id,
    contact_id: row.contact_id,
    deal_id: row.deal_id,
    assigned_to: row.assigned_to,
    assigned_team_id: row.assigned_team_id,
    created_by: row.created_by,
    ...textsIn(row, language),
    title_code: row.title_message?.code ?? null,
    description_code: row.description_message?.code ?? null,
    due_date: iso(row.due_date),
    priority: row.priority,
    type: row.type,
    status: row.status,
    completed_at: iso(row.completed_at),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

/** Returns an activity. Its author is null for Heron's own actions and for deleted accounts. */
export function presentActivity(row: ActivityRow): z.input<typeof activity> {
  const { id, contact_id, organization_id, user_id, activity_type, metadata, created_at } = row;
  const user = authorOf(row);
  return { id, contact_id, organization_id, user_id, activity_type, metadata, created_at: iso(created_at), user };
}

/** Returns a note about a contact with its author. */
export function presentNote(row: NoteRow): z.input<typeof note> {
  return {
    id: row.id,
    contact_id: row.contact_id,
    organization_id: row.organization_id,
    user_id: row.user_id,
    content: row.content,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    user: authorOf(row),
  };
}

function authorOf(
  row: Pick<NoteRow, 'user_id' | 'first_name' | 'last_name'>,
): NonNullable<z.input<typeof note>['user']> | null {
  if (row.user_id === null || row.first_name === null) return null;
  return { id: row.user_id, name: `${row.first_name} ${row.last_name ?? ''}`.trim() };
}
