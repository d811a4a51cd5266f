import { readAttributionBreakdown, readAttributionSummary } from '../../../domain/reporting/acquisition/attribution.ts';
import { explainContact, explainPerson, listAttributions } from '../../../domain/reporting/acquisition/attributions.ts';
import {
  correctAttribution,
  correctionProblems,
  restoreAttribution,
} from '../../../domain/reporting/acquisition/corrections.ts';
import { changeAttributionSettings, readAttributionSettings } from '../../../domain/reporting/acquisition/settings.ts';
import { route } from '../../http/route.ts';
import { iso, presentPage } from '../../http/schemas.ts';
import {
  presentAttribution,
  presentCorrection,
  presentCustomer,
  presentExplanation,
  presentSettings,
} from './present.ts';
import { rangeOf } from './range.ts';
import { read, readPeople, write } from './rights.ts';
import * as schemas from './schemas.ts';

const present = ({ from, to }: { from: Date; to: Date }) => ({ from: iso(from), to: iso(to) });

/** Routes of attribution, which credits customers to the emails that won them. */
export const attributionRoutes = [
  route({
    ...read,
    operationId: 'acquisition.getAttributionSettings',
    method: 'get',
    path: '/acquisition/attribution/settings',
    summary: 'Get the attribution settings',
    description: 'The maximum age of the credited email, and whether emails to colleagues are estimated.',
    success: { status: 200, body: schemas.settings },
    handler: async (ctx) => presentSettings(await readAttributionSettings(ctx)),
  }),
  route({
    ...write,
    operationId: 'acquisition.updateAttributionSettings',
    method: 'put',
    path: '/acquisition/attribution/settings',
    summary: 'Change the attribution settings',
    description: 'Changes only given fields; safe to repeat. All attribution reports use them at once.',
    body: schemas.settingsBody,
    success: { status: 200, body: schemas.settings },
    handler: async (ctx, { body: { window_days: windowDays, company_estimates: companyEstimates } }) =>
      presentSettings(await changeAttributionSettings(ctx, { windowDays, companyEstimates })),
  }),
  route({
    ...read,
    operationId: 'acquisition.getAttributionSummary',
    method: 'get',
    path: '/acquisition/attribution/summary',
    isQuestion: true,
    summary: 'Count customers by attribution',
    description:
      'Counts people whose first conversion of the acquisition goal is in the range. The last confirmed send at or before it is credited if it is less than the window before. With a campaign, counts only customers credited to it. Estimates by company are separate.',
    query: schemas.customerQuery,
    success: { status: 200, body: schemas.attributionSummary },
    errors: ['not_found'],
    handler: async (ctx, { query: { campaign_id: campaignId, ...given } }) => {
      const range = rangeOf(ctx, given);
      return { ...present(range), ...presentAttribution(await readAttributionSummary(ctx, { ...range, campaignId })) };
    },
  }),
  route({
    ...read,
    operationId: 'acquisition.getAttributionBreakdown',
    method: 'get',
    path: '/acquisition/attribution/breakdown',
    isQuestion: true,
    summary: 'Break down attributed customers by properties of the credited email',
    description:
      'Uses the properties at the time of sending, even if the campaign has changed since. At most 100 groups, the largest first.',
    query: schemas.attributionBreakdownQuery,
    success: { status: 200, body: schemas.attributionBreakdown },
    errors: ['not_found'],
    handler: async (ctx, { query: { campaign_id: campaignId, dimension, ...given } }) => {
      const range = rangeOf(ctx, given);
      const rows = await readAttributionBreakdown(ctx, { ...range, campaignId }, dimension);
      return {
        ...present(range),
        dimension,
        rows: rows.map(({ key, name, customers, withoutEngagement, corrected, estimated }) => ({
          key,
          name,
          customers,
          attributed_without_engagement: withoutEngagement,
          corrected,
          company_estimate: estimated,
        })),
      };
    },
  }),
  route({
    ...readPeople,
    operationId: 'acquisition.listAttributions',
    method: 'get',
    path: '/acquisition/attributions',
    summary: 'List customers with the email credited for each',
    description:
      'The latest acquisition first; lists the customers behind a figure of the summary. `unattributed` includes the estimated ones, because an estimate does not count as credit.',
    query: schemas.attributionsQuery,
    success: { status: 200, body: schemas.attributions },
    errors: ['not_found'],
    handler: async (ctx, { query }) => {
      const { campaign_id: campaignId, status, match_method: matchMethod, limit, cursor, ...given } = query;
      const filter = {
        ...rangeOf(ctx, given),
        campaignId,
        status,
        matchMethod,
        corrected: query.corrected && true,
        withoutEngagement: query.without_engagement && true,
      } as const;
      return presentPage(await listAttributions(ctx, filter, { limit, cursor }), presentCustomer);
    },
  }),
  route({
    ...readPeople,
    operationId: 'acquisition.explainAttribution',
    method: 'get',
    path: '/acquisition/attributions/:personId',
    summary: 'Explain the credit of a person',
    description:
      'Returns the acquisition, the credited email as it was, earlier events, corrections, and the other emails that could be credited.',
    params: schemas.personParams,
    success: { status: 200, body: schemas.explanation },
    handler: async (ctx, { params }) => presentExplanation(await explainPerson(ctx, params.personId)),
  }),
  route({
    ...readPeople,
    operationId: 'acquisition.explainProspect',
    method: 'get',
    path: '/acquisition/prospects/:contactId/attribution',
    summary: 'Explain the credit of a contact',
    description: "Uses the contact's person. A contact without known events has no acquisition.",
    params: schemas.contactParams,
    success: { status: 200, body: schemas.explanation },
    handler: async (ctx, { params }) => presentExplanation(await explainContact(ctx, params.contactId)),
  }),
  route({
    ...write,
    operationId: 'acquisition.correctAttribution',
    method: 'put',
    path: '/acquisition/attributions/:personId/correction',
    summary: 'Correct the credit of a customer',
    description: 'Replaces the automatic credit until it is restored. Repeating it changes nothing.',
    params: schemas.personParams,
    body: schemas.correctionBody,
    furtherProblems: (ctx, { send_id: sendId }, { personId }) => correctionProblems(ctx, personId!, sendId),
    success: { status: 200, body: schemas.corrected },
    handler: async (ctx, { params: { personId }, body: { send_id: sendId, reason } }) => {
      const row = await correctAttribution(ctx, personId, { sendId: sendId?.toLowerCase() ?? null, reason });
      return { person_id: personId.toLowerCase(), correction: presentCorrection(row) };
    },
  }),
  route({
    ...write,
    operationId: 'acquisition.restoreAttribution',
    method: 'delete',
    path: '/acquisition/attributions/:personId/correction',
    summary: 'Restore the automatic credit of a customer',
    description: 'Without a correction nothing changes.',
    params: schemas.personParams,
    query: schemas.restoreQuery,
    success: { status: 200, body: schemas.corrected },
    handler: async (ctx, { params: { personId }, query: { reason = '' } }) => {
      await restoreAttribution(ctx, personId, reason);
      return { person_id: personId.toLowerCase(), correction: null };
    },
  }),
];
