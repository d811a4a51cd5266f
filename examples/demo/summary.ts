import { createHeron, dataOf } from '../../client/src/index.ts';
import type { Result } from './chapter.ts';

/** Facts of the campaign that are known independently of the product. */
interface Known {
  campaignId: string;
  /** Number of the campaign's emails that the mail server accepted. `people` is the number of their recipients. */
  emails: number;
  people: number;
}

/**
 * Final summary: the results of the campaign in the acquisition report, compared with the mail server's own record.
 */
export async function summarize(
  { apiUrl, sessionToken }: { apiUrl: string; sessionToken: string },
  { campaignId, emails, people }: Known,
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
      [...compare('emails', summary.confirmed_sends, emails), ...compare('people', summary.prospects, people)],
    ],
  ];
}
