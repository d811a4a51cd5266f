import { z } from 'zod';
import {
  completeSettingsSchema,
  partialSettingsSchema,
  settingProblems,
} from '../../../domain/sending/campaign/outreach-settings.ts';
import { getOutreachSettings, replaceOutreachSettings } from '../../../domain/campaigns/outreach-settings/settings.ts';
import { route } from '../../http/route.ts';

const shared = {
  area: 'outreach-settings',
  path: '/outreach/settings',
  scope: ['WRITE_CAMPAIGNS'],
  permission: 'manage_settings',
} as const;

/** Routes of the organization's outreach settings. */
export const outreachSettingsRoutes = [
  route({
    ...shared,
    operationId: 'outreachSettings.get',
    method: 'get',
    summary: 'Get the settings in force, including defaults',
    description: 'They apply to campaigns without their own rule.',
    success: { status: 200, body: completeSettingsSchema },
    handler: (ctx) => getOutreachSettings(ctx),
  }),
  route({
    ...shared,
    operationId: 'outreachSettings.replace',
    method: 'patch',
    summary: 'Replace the settings',
    description: 'Omitted settings return to their defaults.',
    body: z.strictObject({ settings: partialSettingsSchema }),
    furtherProblems: async (_ctx, { settings }) => settingProblems(settings, 'body.settings'),
    success: { status: 204 },
    errors: ['invalid_setting'],
    handler: (ctx, { body }) => replaceOutreachSettings(ctx, body.settings),
  }),
];
