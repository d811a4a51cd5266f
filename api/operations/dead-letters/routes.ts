import { z } from 'zod';
import { listDeadLetters, replayTask, type DeadLetter } from '../../../domain/operations/dead-letters/dead-letters.ts';
import { route, type AnyRoute } from '../../http/route.ts';
import { idParams, iso, resource, timestamp, uuid } from '../../http/schemas.ts';
import type { Ctx } from '../../../domain/platform/kernel/context.ts';
import { render } from '../../../messages/render.ts';

const area = 'dead-letters';
const STATUSES = ['pending', 'replayed'] as const;

const deadLetter = resource('DeadLetter', {
  id: uuid,
  task_id: uuid,
  task_type: z.string().meta({
    description:
      "campaign_email: an email that failed after its last attempt. uncertain_email: an email that may have been sent; replaying sends it again. goal_replay_event: an event that a goal's replay skipped; replaying it replays the goal at its time. integration_webhook: a booking that could not be parsed; replaying parses it again. integration_backlog: a delivery dropped after waiting too long for a reconnection; replaying only marks it as resolved. Others: a run that kept failing.",
  }),
  payload: z.record(z.string(), z.unknown()).meta({ description: 'Ids that identify the task' }),
  last_error: z.string(),
  attempts: z.int(),
  max_attempts: z.int(),
  status: z.enum(STATUSES),
  next_retry_at: timestamp.nullable(),
  replayed_at: timestamp.nullable(),
  created_at: timestamp,
  updated_at: timestamp,
});

/** Routes of dead letters: failed tasks that a person can restart. */
export const deadLetterRoutes: readonly AnyRoute[] = [
  route({
    operationId: 'tasks.listDeadLetters',
    method: 'get',
    path: '/tasks/dlq',
    area,
    summary: 'Dead letters, newest first',
    scope: ['SEND_CAMPAIGNS'],
    permission: 'send_campaigns',
    query: z.object({
      status: z.enum(STATUSES).optional().meta({ description: 'Only waiting tasks, or only replayed ones' }),
      limit: z.coerce
        .number()
        .int()
        .min(1)
        .max(200)
        .default(100)
        .meta({ description: 'Maximum number of tasks, newest first' }),
    }),
    success: { status: 200, body: z.strictObject({ data: z.array(deadLetter) }) },
    handler: async (ctx, { query }) => ({
      data: (await listDeadLetters(ctx, query)).map((letter) => present(letter, ctx)),
    }),
  }),
  route({
    operationId: 'tasks.replayDeadLetter',
    method: 'post',
    path: '/tasks/dlq/:id/replay',
    area,
    summary: 'Replay a dead letter; an email that may have been sent is sent again, or counted as sent',
    description:
      'Without a body the task starts again. With `as: sent` an email that may have been sent (`uncertain_email`) is counted as sent and not sent again: for a person who has seen that it arrived.',
    scope: ['SEND_CAMPAIGNS'],
    permission: 'send_campaigns',
    params: idParams,
    body: z
      .strictObject({
        as: z
          .enum(['again', 'sent'])
          .default('again')
          .meta({ description: 'Resolution of an email that may have been sent' }),
      })
      .prefault({}),
    success: { status: 200, body: z.strictObject({ status: z.literal('replayed') }) },
    errors: ['conflict', 'attachments_expired'],
    handler: async (ctx, { params, body }) => {
      await replayTask(ctx, params.id, body.as);
      return { status: 'replayed' as const };
    },
  }),
];

function present(letter: DeadLetter, { language }: Pick<Ctx, 'language'>): z.input<typeof deadLetter> {
  return {
    ...letter,
    payload: letter.payload as Record<string, unknown>,
    last_error: render(letter.last_error, language),
    next_retry_at: iso(letter.next_retry_at),
    replayed_at: iso(letter.replayed_at),
    created_at: iso(letter.created_at),
    updated_at: iso(letter.updated_at),
  };
}
