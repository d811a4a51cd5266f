import { z } from 'zod';
import { FINDINGS, type FindingCode } from '../../../domain/operations/instance/findings.ts';
import { examineInstance } from '../../../domain/operations/instance/health.ts';
import { readLimits } from '../../../domain/operations/instance/limits.ts';
import { readUpdate } from '../../../domain/operations/instance/update.ts';
import { describeConfig } from '../../../lib/config/index.ts';
import { findingMessage, findingCode, renderFinding } from '../../../lib/finding.ts';
import { render } from '../../../messages/render.ts';
import { findingFields } from '../../http/findings.ts';
import { route } from '../../http/route.ts';
import { resource, timestamp } from '../../http/schemas.ts';

const administrators = { area: 'instance', scope: 'session', platformAdmin: true } as const;

const finding = resource('Finding', {
  ...findingFields,
  code: z.enum(Object.keys(FINDINGS) as [FindingCode, ...FindingCode[]]),
  title: z.string(),
  docs: z.string().meta({ description: 'Documentation, as a path in the sources' }),
});

const setting = resource('Setting', {
  key: z.string(),
  value: z.unknown().meta({ description: 'Value in force; for a secret a short fingerprint' }),
  source: z.enum(['environment', 'data folder', 'default', 'unset']),
  sensitive: z.boolean(),
  requires_restart: z.boolean(),
});

const amount = z.number().nullable().meta({ description: 'Null means unlimited' });
const amounts = z.record(z.string(), amount);

/** Routes for administrators of the installation. */
export const instanceRoutes = [
  route({
    ...administrators,
    operationId: 'instance.getHealth',
    method: 'get',
    path: '/admin/instance/health',
    summary: 'List findings that need the operator',
    description:
      'Checks the settings, the database and the other parts of the installation; lists only findings. Takes up to five seconds if a part does not answer. Load balancers use GET /health.',
    permission: 'view_analytics',
    success: { status: 200, body: z.strictObject({ findings: z.array(finding) }) },
    handler: async (ctx) => ({
      findings: (await examineInstance(ctx)).map((found) => ({
        ...renderFinding(found, ctx.language),
        code: findingCode(found) as FindingCode,
        title: render(findingMessage(found, 'title')!, ctx.language),
        docs: found.docs,
      })),
    }),
  }),
  route({
    ...administrators,
    operationId: 'instance.getConfig',
    method: 'get',
    path: '/admin/instance/config',
    summary: 'Every setting of this process',
    description:
      'Includes its value and source, and whether a change needs a restart. Secrets are shown as a fingerprint.',
    permission: 'manage_settings',
    success: { status: 200, body: z.strictObject({ settings: z.array(setting) }) },
    handler: async ({ config }) => ({
      // A change of any setting requires a restart, because processes read their settings once at start.
      settings: describeConfig(config).map(({ name, ...rest }) => ({ key: name, ...rest, requires_restart: true })),
    }),
  }),
  route({
    ...administrators,
    operationId: 'instance.getLimits',
    method: 'get',
    path: '/admin/instance/limits',
    summary: 'The limits in force',
    description: 'Limits of sending, warmup and requests; `_ms` are milliseconds.',
    permission: 'view_analytics',
    success: { status: 200, body: z.strictObject({ sending: amounts, warmup: amounts, rates: amounts }) },
    handler: async ({ config }) => readLimits(config),
  }),
  route({
    ...administrators,
    operationId: 'instance.getUpdate',
    method: 'get',
    path: '/admin/instance/update',
    summary: 'Get this build and the latest release',
    description:
      'The latest release is queried at UPDATE_FEED_URL, at most once an hour; without that setting nothing is queried.',
    permission: 'view_analytics',
    success: {
      status: 200,
      body: z.strictObject({
        running: z.strictObject({ version: z.string(), node: z.string() }),
        newest: z
          .strictObject({ version: z.string(), url: z.string().nullable(), published_at: timestamp.nullable() })
          .nullable(),
        state: z.enum(['off', 'current', 'available', 'unreachable']),
      }),
    },
    handler: async (ctx) => {
      const { running, newest, state } = await readUpdate(ctx);
      return {
        running,
        newest: newest && { version: newest.version, url: newest.url, published_at: newest.publishedAt },
        state,
      };
    },
  }),
];
