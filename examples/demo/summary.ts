import { createHeron, dataOf } from '../../client/src/index.ts';
import type { Result } from './chapter.ts';

/** What is known of the campaign from outside. */
interface Known {
  campaignId: string;
  /** Letters of it that the mail server took, and to how many people. */
  letters: number;
  people: number;
}

/** The end: what the campaign led to, as the acquisition summary says, compared with the mail server's own record. */
export async function summarize(
  { apiUrl, sessionToken }: { apiUrl: string; sessionToken: string },
  { campaignId, letters, people }: Known,
  say: (line: string) => void,
): Promise<Result[]> {
  const person = createHeron({ baseUrl: apiUrl, key: sessionToken });
  const summary = await dataOf(
    person.GET('/v1/acquisition/summary', { params: { query: { campaign_id: campaignId, window_days: 30 } } }),
  );
  const stages = summary.stages.map(({ stage, people: reached }) => `${reached} ${stage}`);
  say(`${summary.confirmed_sends} emails to ${summary.prospects} people: ${stages.join(', ')}`);
  const compare = (what: string, said: number, counted: number) =>
    said === counted ? [] : [`${said} ${what}, the mail server has ${counted}`];
  return [
    [
      'the acquisition summary counts what the mail server took',
      [...compare('emails', summary.confirmed_sends, letters), ...compare('people', summary.prospects, people)],
    ],
  ];
}
