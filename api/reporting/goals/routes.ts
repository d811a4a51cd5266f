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
import { asSeen, idParams } from '../../http/schemas.ts';
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
    description: 'Without those that are archived, unless you ask for them.',
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
      'Product events received from now on that match the definition become conversions; a replay counts earlier ones. Each stage except `custom` has at most one primary goal: a new primary goal takes the place of the present one, which stays as one that is not primary.',
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
    summary: 'What a definition would have counted',
    description: 'In the last days, by when events occurred. Writes nothing. At most two million events.',
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
    description: 'With every version of its definition. Archived goals are found too.',
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
      'Another definition is a new revision, which counts for events received from then on; a new name or another primary goal is none. The stage cannot change. A replay that is under way ends with `goal_changed` when the definition changes. With `expected_updated_at` nobody else’s change is overwritten.',
    params: idParams,
    body: schemas.updateBody.extend(asSeen),
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
      'It matches no further events and is primary no more; its conversions stay. A replay that is under way ends with `goal_changed`.',
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
    summary: 'What a replay would do',
    description:
      'The counts are what a replay of the range does if nothing changes meanwhile. Writes nothing. At most two million events.',
    params: idParams,
    body: schemas.rangeBody,
    furtherProblems: async (_ctx, range) => rangeProblems(range),
    success: { status: 200, body: schemas.replayPreview },
    errors: ['conflict'],
    handler: async (ctx, { params, body }) => presentReplayPreview(await previewReplay(ctx, params.id, body)),
  }),
  route({
    ...write,
    operationId: 'goals.replay',
    method: 'post',
    path: '/goals/:id/replays',
    summary: 'Hold past events against a goal',
    description:
      'Events of the range are held against the definition as it is now: matching ones become conversions, conversions whose event does not match are deleted, those whose event was pruned stay. It goes on after the answer; one replay of a goal at a time.',
    params: idParams,
    body: schemas.rangeBody,
    furtherProblems: async (_ctx, range) => rangeProblems(range),
    success: { status: 202, body: schemas.replay },
    errors: ['conflict'],
    handler: async (ctx, { params, body }) => presentReplay(await startReplay(ctx, params.id, body), ctx.config),
  }),
  route({
    ...read,
    operationId: 'goals.replays',
    method: 'get',
    path: '/goals/:id/replays',
    summary: 'The 20 most recent replays of a goal',
    description: 'Newest first, with how far they are.',
    params: idParams,
    success: { status: 200, body: schemas.replays },
    handler: async (ctx, { params }) => ({
      data: (await listReplays(ctx, params.id)).map((replay) => presentReplay(replay, ctx.config)),
    }),
  }),
  route({
    ...read,
    operationId: 'goals.getReplay',
    method: 'get',
    path: '/goals/:id/replays/:replayId',
    summary: 'One replay of a goal',
    params: schemas.replayParams,
    success: { status: 200, body: schemas.replay },
    handler: async (ctx, { params }) => presentReplay(await getReplay(ctx, params.id, params.replayId), ctx.config),
  }),
  route({
    ...write,
    operationId: 'goals.cancelReplay',
    method: 'post',
    path: '/goals/:id/replays/:replayId/cancel',
    summary: 'Stop a replay of a goal',
    description:
      'It holds no further event against the definition; what it has counted and deleted until then stays. Another replay may start at once. One that was cancelled before is answered as it is.',
    params: schemas.replayParams,
    success: { status: 200, body: schemas.replay },
    errors: ['conflict'],
    handler: async (ctx, { params }) =>
      presentReplay(await cancelReplayOf(ctx, params.id, params.replayId), ctx.config),
  }),
];
