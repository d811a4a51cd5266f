import { createHeron, dataOf, type Heron } from '../../client/src/index.ts';
import { askForRun, type AgentOptions } from './agent.ts';
import type { Result } from './chapter.ts';
import type { Prepared } from './setup.ts';

const STAGES = [
  { name: 'Has answered', color: '#4c6ef5' },
  { name: 'Has an offer', color: '#fab005' },
  { name: 'Has ordered', color: '#40c057' },
];

/**
 * Adds a deal and a run that waits for approval, because the chapters leave none. Then requests one row for each area
 * of the dashboard from the API.
 * @returns a result per area, with a difference if the area is empty
 */
export async function furnish(
  prepared: Pick<Prepared, 'api' | 'campaignId'>,
  options: AgentOptions,
  signal: AbortSignal,
): Promise<Result[]> {
  const { api, campaignId } = prepared;
  const person = createHeron({ baseUrl: options.apiUrl, key: options.sessionToken });
  await createDeal(person, campaignId);
  await askForRun(prepared, options, signal);
  const query = { limit: 1 };
  const approvals = await dataOf(person.GET('/v1/approvals', { params: { query: { ...query, status: 'pending' } } }));
  const threads = await dataOf(person.GET('/v1/unibox', { params: { query } }));
  const deals = await dataOf(person.GET('/v1/crm/deals', { params: { query } }));
  const leads = await dataOf(
    api.GET('/v1/campaigns/{id}/leads', {
      params: { path: { id: campaignId }, query: { limit: 50, status: 'paused' } },
    }),
  );
  const held = leads.data.filter(({ hold, blocked }) => hold !== null || blocked);
  const none = (rows: readonly unknown[]): string[] => (rows.length > 0 ? [] : ['there is none']);
  return [
    ['an approval is pending', none(approvals.data)],
    ['a conversation is in the inbox', none(threads.data)],
    ['a deal is in the pipeline', none(deals.data)],
    ['a contact is held', none(held)],
  ];
}

/** Creates a deal in the first stage of a pipeline, with the first contact who has replied to the campaign. */
async function createDeal(person: Heron, campaignId: string): Promise<void> {
  const { data: leads } = await dataOf(
    person.GET('/v1/campaigns/{id}/leads', {
      params: { path: { id: campaignId }, query: { limit: 1, status: 'replied' } },
    }),
  );
  const pipeline = await dataOf(person.POST('/v1/crm/pipelines', { body: { name: 'Lamps', stages: STAGES } }));
  await dataOf(
    person.POST('/v1/crm/deals', {
      body: {
        pipeline_id: pipeline.id,
        stage_id: pipeline.stages[0]!.id,
        contact_id: leads[0]!.contact_id,
        campaign_id: campaignId,
        name: 'Lamps for forty desks',
        value: 4900,
      },
    }),
  );
}
