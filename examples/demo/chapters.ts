import { compare, type Result } from './chapter.ts';

/** Chapters in order, with the checks that each must perform. A demo without one of these checks has failed. */
export const CHAPTERS = {
  campaign: {
    title: 'Chapter one: a campaign',
    checks: [
      'every row of leads.csv is accounted for',
      'every recipient could do what their role says',
      'every lead ended the way its recipient behaved',
      'every recipient got the emails of their path, each once',
      'emails on record = emails the mail server accepted, by Message-ID',
      'no email is in doubt',
      'opens = images fetched by people',
      'machine opens = images fetched by proxies',
      'clicks = links followed by people',
      'machine clicks = links followed by scanners',
      'replies = replies written',
      'unsubscribes = one-click requests',
      'bounces = addresses refused + delivery reports',
      'resumed and timed out = who bought, and who did not',
      'product events = orders of the shop',
      'answers of the app on record = the log of the app, all signed',
      'every offer has the code that the app gave to its reader',
      'every welcome has the number of its order',
      'every email is in its conversation',
      'the lead who is away is held until a working day after the return',
      'who bounced or unsubscribed is suppressed',
      'no recipient was written to after they had left',
      'no process of Heron logged an error',
    ],
  },
  trouble: {
    title: 'Chapter two: a bad day',
    checks: [
      'the mailbox at its limit rests, and sends nothing',
      'every reader got the email once, in spite of the outage',
      'no reader was given up or suppressed for a fault of the servers',
      'who asked to stop in Danish is suppressed',
    ],
  },
  agent: {
    title: 'Chapter three: an agent',
    checks: [
      'nothing left before a person had approved it',
      'the page named everybody it would write to',
      'everybody got the email once',
      'the agent cannot approve anything itself',
    ],
  },
  integrations: {
    title: 'Chapter four: a meeting',
    checks: [
      'a meeting that was told of twice is one meeting',
      'its booking stopped the sequence of who booked it',
      'one deal in the CRM, with its contact, in spite of an outage there',
      'one message in the chat, which mentions nobody',
      'the tools had nothing to refuse',
    ],
  },
  order: {
    title: 'Chapter five: a mailbox is bought',
    checks: [
      'nothing was bought before it was paid',
      'what was ordered was made, each once',
      'the money that was taken is the price',
      'the first email left the new mailbox once',
    ],
  },
  summary: {
    title: 'What the campaign led to',
    checks: ['the acquisition summary counts what the mail server took'],
  },
  facts: {
    title: 'The books',
    checks: ['heron facts verify: every count is that of the rows'],
  },
} as const satisfies Record<string, { title: string; checks: readonly string[] }>;

export type Chapter = keyof typeof CHAPTERS;

/** Results of each finished chapter. */
export type Told = Partial<Record<Chapter, readonly Result[]>>;

/**
 * Returns the faults of a demo: checks with differences, missing checks, and unexpected ones. Empty if it succeeded.
 */
export function faultsOf(told: Told): string[] {
  return (Object.keys(CHAPTERS) as Chapter[]).flatMap((chapter) => {
    const results = told[chapter] ?? [];
    const made = results.map(([name]) => name);
    return [
      ...results.filter(([, differences]) => differences.length > 0).map(([name]) => name),
      ...compare(made, CHAPTERS[chapter].checks),
    ];
  });
}
