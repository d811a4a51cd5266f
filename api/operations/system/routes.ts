import { z } from 'zod';
import { timeZones } from '../../../domain/platform/scheduling/time-zones.ts';
import { readiness } from '../../../domain/operations/system/readiness.ts';
import { route } from '../../http/route.ts';
import { resource } from '../../http/schemas.ts';
import { AppError } from '../../../lib/errors.ts';
import { liveness } from '../../../lib/iterations.ts';
import { message } from '../../../messages/index.ts';
import { render } from '../../../messages/render.ts';

const timeZone = resource('TimezoneOption', {
  name: z.string().meta({ description: 'IANA name' }),
  display_name: z.string().meta({ description: 'Such as `(UTC+02:00) Europe/Budapest`' }),
});

/** Writes an offset as `+05:30`. */
function offsetText(minutes: number): string {
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
}

/** Routes of liveness and readiness checks, and of the time zones. */
export const systemRoutes = [
  route({
    operationId: 'system.checkHealth',
    method: 'get',
    path: '/health',
    atRoot: true,
    area: 'system',
    summary: 'Liveness of this process',
    description: 'Answers 503 when background work of this process has made no progress for a minute.',
    scope: 'public',
    permission: null,
    success: { status: 200, body: z.strictObject({ status: z.literal('ok') }) },
    handler: async () => {
      const { body } = liveness();
      if (body.status === 'ok') return body;
      throw new AppError('service_unavailable', message('health.stalled', { loops: body.loops }), {
        fix: message('health.stalled.fix'),
      });
    },
  }),
  route({
    operationId: 'system.listTimezones',
    method: 'get',
    path: '/timezones',
    area: 'system',
    summary: 'List the time zones that schedules accept',
    description: 'Sorted by their current offset from UTC.',
    scope: 'any',
    permission: null,
    organization: false,
    success: { status: 200, body: z.array(timeZone) },
    handler: async ({ clock }) =>
      (await timeZones(clock.now())).map(({ name, offsetMinutes }) => ({
        name,
        display_name: `(UTC${offsetText(offsetMinutes)}) ${name}`,
      })),
  }),
  route({
    operationId: 'system.checkReadiness',
    method: 'get',
    path: '/system/readiness',
    area: 'system',
    summary: 'Check the parts behind the API',
    description:
      'Checks PostgreSQL, Temporal, the workers and their clocks, the scheduler and the intake of events. A failing part has a fix.',
    scope: 'any',
    permission: null,
    organization: false,
    success: {
      status: 200,
      body: z.strictObject({
        ready: z.boolean(),
        checks: z.array(
          resource('ReadinessCheck', {
            name: z.string(),
            ok: z.boolean(),
            detail: z.string().optional(),
            fix: z.string().optional(),
            latency_ms: z.int().optional(),
          }),
        ),
      }),
    },
    handler: async (ctx) => {
      const { ready, checks } = await readiness(ctx);
      return {
        ready,
        checks: checks.map(({ latencyMs, detail, fix, ...check }) => ({
          ...check,
          detail: render(detail, ctx.language),
          ...(fix ? { fix: render(fix, ctx.language) } : {}),
          ...(latencyMs === undefined ? {} : { latency_ms: latencyMs }),
        })),
      };
    },
  }),
];
