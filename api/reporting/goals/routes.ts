import { archiveGoal, createGoal, getGoal, listGoals, updateGoal } from '../../../domain/reporting/goals/goals.ts';
import { previewGoal } from '../../../domain/reporting/goals/preview.ts';
import {
  cancelReplayOf,
  getReplay,
  listReplays,
  previewReplay,
  rangeProblems,
  startReplay,
} from '../../../domain/reporting/goals/replays.ts';
import { route } from '../../http/route.ts';
import { expectedVersion, idParams } from '../../http/schemas.ts';
import { presentGoal, presentGoalDetail, presentGoalPreview, presentReplay, presentReplayPreview } from './present.ts';
import * as schemas from './schemas.ts';

const area = 'goals';
const read = { area, scope: ['READ_ANALYTICS'], permission: 'view_analytics' } as const;
const write = { area, scope: ['MANAGE_ACQUISITION'], permission: 'manage_settings' } as const;

/** Routes of goals: the product events that count as reaching a stage of the funnel. */
export const goalRoutes = [
  route({
    ...read,
    operationId: 'goals.list',
    method: 'get',
    path: '/goals',
    summary: 'Goals, newest first',
    description: 'Archived goals are omitted by default.',
    query: schemas.listQuery,
    success: { status: 200, body: schemas.goals },
    handler: async (ctx, { query }) => ({
      data: (await listGoals(ctx, { includeArchived: query.include_archived === 'true' })).map(presentGoal),
    }),
  }),
  route({
    ...write,
    operationId: 'goals.create',
    method: 'post',
    path: '/goals',
    summary: 'Define a goal',
    description:
      'Product events received from now on that match the definition become conversions; a replay counts earlier ones. Each stage except `custom` has at most one primary goal: a new primary goal replaces the current one, which is kept as a secondary goal.',
    body: schemas.createBody,
    success: { status: 201, body: schemas.goal },
    handler: async (ctx, { body }) => {
      const { name, kind, is_primary: isPrimary, definition } = body;
      return presentGoal(await createGoal(ctx, { name, kind, isPrimary, definition }));
    },
  }),
  route({
    ...read,
    operationId: 'goals.preview',
    method: 'post',
    path: '/goals/preview',
    readOnly: true,
    summary: 'Preview what a definition would have counted',
    description:
      'Counts events by their time of occurrence in the last days. Writes nothing. At most two million events.',
    body: schemas.previewBody,
    success: { status: 200, body: schemas.goalPreview },
    handler: async (ctx, { body }) => presentGoalPreview(await previewGoal(ctx, body.definition, body.days)),
  }),
  route({
    ...read,
    operationId: 'goals.get',
    method: 'get',
    path: '/goals/:id',
    summary: 'One goal',
    description: 'Includes every version of its definition. Archived goals are found too.',
    params: idParams,
    success: { status: 200, body: schemas.goalDetail },
    handler: async (ctx, { params }) => presentGoalDetail(await getGoal(ctx, params.id)),
  }),
  route({
    ...write,
    operationId: 'goals.update',
    method: 'patch',
    path: '/goals/:id',
    summary: 'Change a goal',
    description:
      'A new definition creates a revision, which counts for events received from then on; a new name or primary flag does not. The stage cannot change. Changing the definition ends an open replay with `goal_changed`. With `expected_updated_at`, a concurrent change is not overwritten: the answer is 409.',
    params: idParams,
    body: schemas.updateBody.extend(expectedVersion),
    success: { status: 200, body: schemas.goal },
    errors: ['conflict'],
    handler: async (ctx, { params, body }) => {
      const { name, is_primary: isPrimary, definition, expected_updated_at: expectedUpdatedAt } = body;
      return presentGoal(await updateGoal(ctx, params.id, { name, isPrimary, definition }, { expectedUpdatedAt }));
    },
  }),
  route({
    ...write,
    operationId: 'goals.archive',
    method: 'delete',
    path: '/goals/:id',
    summary: 'Archive a goal',
    description:
      'It matches no further events and is no longer primary; its conversions are kept. An open replay ends with `goal_changed`.',
    params: idParams,
    success: { status: 204 },
    handler: async (ctx, { params }) => {
      await archiveGoal(ctx, params.id);
    },
  }),
  route({
    ...read,
    operationId: 'goals.previewReplay',
    method: 'post',
    path: '/goals/:id/replays/preview',
    readOnly: true,
    summary: 'Preview a replay',
    description:
      'The counts are the effects of a replay of the range if nothing changes meanwhile. Writes nothing. At most two million events.',
    params: idParams,
    body: schemas.rangeBody,
    furtherProblems: async (_ctx, range) => rangeProblems(range),
    success: { status: 200, body: schemas.replayPreview },
    errors: ['conflict'],
    handler: async (ctx, { params, body }) => presentReplayPreview(await previewReplay(ctx, params.id, body)),
  }),
  route({
    ...write,
    operationId: 'goals.startReplay',
    method: 'post',
    path: '/goals/:id/replays',
    summary: 'Replay past events against a goal',
    description:
      'Matches the events of the range against the current definition. Matching events become conversions, and conversions whose event does not match are deleted. Conversions whose event was pruned are kept. It continues in the background; a goal has one replay at a time.',
    params: idParams,
    body: schemas.rangeBody,
    furtherProblems: async (_ctx, range) => rangeProblems(range),
    success: { status: 202, body: schemas.replay },
    errors: ['conflict'],
    handler: async (ctx, { params, body }) => presentReplay(await startReplay(ctx, params.id, body), ctx),
  }),
  route({
    ...read,
    operationId: 'goals.listReplays',
    method: 'get',
    path: '/goals/:id/replays',
    summary: 'The 20 most recent replays of a goal',
    description: 'Newest first, with their progress.',
    params: idParams,
    success: { status: 200, body: schemas.replays },
    handler: async (ctx, { params }) => ({
      data: (await listReplays(ctx, params.id)).map((replay) => presentReplay(replay, ctx)),
    }),
  }),
  route({
    ...read,
    operationId: 'goals.getReplay',
    method: 'get',
    path: '/goals/:id/replays/:replayId',
    summary: 'Get one replay of a goal',
    params: schemas.replayParams,
    success: { status: 200, body: schemas.replay },
    handler: async (ctx, { params }) => presentReplay(await getReplay(ctx, params.id, params.replayId), ctx),
  }),
  route({
    ...write,
    operationId: 'goals.cancelReplay',
    method: 'post',
    path: '/goals/:id/replays/:replayId/cancel',
    summary: 'Stop a replay of a goal',
    description:
      'It matches no further events; its effects until then are kept. Another replay may start at once. A cancelled replay is returned unchanged.',
    params: schemas.replayParams,
    stops: true,
    success: { status: 200, body: schemas.replay },
    errors: ['conflict'],
    handler: async (ctx, { params }) => presentReplay(await cancelReplayOf(ctx, params.id, params.replayId), ctx),
  }),
];
