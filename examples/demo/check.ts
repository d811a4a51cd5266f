import { offerCode, type AppCall } from './app.ts';
import { EVENT, EMAILS, type EmailName } from './campaign.ts';
import type { Deed, Diary } from './diary.ts';
import type { Person } from './people.ts';
import type { ProductRecord, SendRecord } from './record.ts';
import type { ImportJob } from './setup.ts';
import type { Lead } from './watch.ts';
import type { Email } from './world.ts';

/** Data for the checks: the product's data, and the records of recipients, app and mail server. */
export interface Facts {
  people: ReadonlyMap<string, Person>;
  diary: Diary;
  emails: readonly Email[];
  strangers: readonly string[];
  app: { calls: readonly AppCall[]; refused: number };
  leads: readonly Lead[];
  record: ProductRecord;
  /** Times at which the product first reported recipients as finished. */
  leftSeenAt: ReadonlyMap<string, Date>;
  /** Suppressions created by the product: GET /v1/suppressions. */
  suppressed: readonly { email: string; source: string }[];
  /** Product events: GET /v1/events. */
  events: readonly { name: string; data: { number?: string } }[];
  job: ImportJob;
  /** Errors logged by Heron's processes. */
  complaints: readonly string[];
}

/** Check that returns its differences as text; none if the facts are as expected. */
type Check = readonly [name: string, differences: (facts: Facts) => string[]];

/** Final checks. Each compares the product's numbers with an independent record. */
export const CHECKS: readonly Check[] = [
  [
    'every row of leads.csv is accounted for',
    ({ job }) => {
      const sum = job.imported + job.updated + job.skipped + job.failed;
      return sum === job.total && job.imported > 300 ? [] : [JSON.stringify(job)];
    },
  ],
  ['every recipient could do what their role says', ({ diary }) => [...diary.troubles]],
  ['every lead ended the way its recipient behaved', endings],
  ['every recipient got the emails of their path, each once', emailsOfEveryPerson],
  [
    'emails on record = emails the mail server accepted, by Message-ID',
    ({ record, emails, strangers }) => [
      ...compare(
        record.sends.filter(({ sentAt }) => sentAt).map((send) => `${send.messageId} ${send.email}/${send.step}`),
        emails.map((email) => `${email.messageId} ${email.to}/${email.name}`),
      ),
      ...strangers.map((stranger) => `mail that is no email of the campaign: ${stranger}`),
    ],
  ],
  [
    'no email is in doubt',
    ({ record }) =>
      record.sends
        .filter(({ state }) => !['sent', 'bounced'].includes(state))
        .map(({ email, step, state }) => `${email}/${step} is ${state}`),
  ],
  ['opens = images fetched by people', deeds('opened', 'openedAt')],
  ['machine opens = images fetched by proxies', deeds('machine_opened', 'machineOpenedAt')],
  ['clicks = links followed by people', deeds('clicked', 'clickedAt')],
  ['machine clicks = links followed by scanners', deeds('machine_clicked', 'machineClickedAt')],
  ['replies = replies written', deeds('replied', 'repliedAt')],
  ['unsubscribes = one-click requests', deeds('unsubscribed', 'unsubscribedAt')],
  [
    'bounces = addresses refused + delivery reports',
    ({ people, diary, record }) =>
      compare(withMark(record, 'bouncedAt'), [
        ...diary.who('bounced'),
        ...[...people.values()].filter(({ role }) => role.refused).map(({ email }) => `${email}/hello`),
      ]),
  ],
  [
    'resumed and timed out = who bought, and who did not',
    ({ people, record }) =>
      compare(
        record.waits
          .filter(({ state }) => state === 'resumed' || state === 'timed_out')
          .map(({ email, state }) => `${email} ${state}`),
        [...people.values()].filter(({ role }) => role.wait).map(({ email, role }) => `${email} ${role.wait}`),
      ),
  ],
  [
    'product events = orders of the shop',
    ({ events, diary }) =>
      compare(
        events.map(({ name, data }) => `${name} ${data.number}`),
        diary.entries.filter(({ deed }) => deed === 'bought').map(({ detail }) => `${EVENT} ${detail}`),
      ),
  ],
  ['answers of the app on record = the log of the app, all signed', appCalls],
  [
    'every offer has the code that the app gave to its reader',
    ({ emails }) =>
      emails
        .filter(({ name, text, to }) => (name === 'offer' || name === 'nudge') && !text.includes(offerCode(to)))
        .map(({ to, name }) => `${to}/${name}`),
  ],
  [
    'every welcome has the number of its order',
    ({ emails, diary }) =>
      diary.entries
        .filter(
          ({ deed, email, detail }) =>
            deed === 'bought' &&
            !emails.some(({ name, to, text }) => name === 'welcome' && to === email && text.includes(detail)),
        )
        .map(({ email }) => email),
  ],
  ['every email is in its conversation', threading],
  ['the lead who is away is held until a working day after the return', holdOfWhoIsAway],
  [
    'who bounced or unsubscribed is suppressed',
    ({ people, suppressed }) =>
      compare(
        suppressed
          .filter(({ source }) => source === 'bounce' || source === 'unsubscribe')
          .map(({ email, source }) => `${email} ${source}`),
        [...people.values()]
          .filter(({ role }) => role.ends === 'bounced' || role.ends === 'unsubscribed')
          .map(({ email, role }) => `${email} ${role.ends === 'bounced' ? 'bounce' : 'unsubscribe'}`),
      ),
  ],
  ['no recipient was written to after they had left', afterTheFact],
  ['no process of Heron logged an error', ({ complaints }) => [...complaints]],
];

function endings({ people, leads }: Facts): string[] {
  const said = new Map(leads.map((lead) => [lead.contact.email, lead]));
  return [...people.values()].flatMap(({ email, role }) => {
    const lead = said.get(email);
    return lead?.status === role.ends
      ? []
      : [`${email} (${role.name}) is ${lead?.status}: ${lead?.failure_reason ?? lead?.waiting_for}`];
  });
}

/**
 * Checks the emails that each recipient got. People who opt out may still get an email that was being sent; otherwise
 * the sequence must be exact.
 */
function emailsOfEveryPerson({ people, emails }: Facts): string[] {
  const got = new Map<string, EmailName[]>();
  for (const { to, name } of emails) got.set(to, [...(got.get(to) ?? []), name]);
  const uninvited = [...got.keys()]
    .filter((email) => !people.has(email))
    .map((email) => `${email} is no lead and got mail`);
  return [
    ...uninvited,
    ...[...people.values()].flatMap(({ email, role }) => {
      const names = got.get(email) ?? [];
      const allowed = [...role.gets, ...(role.mayGet ?? [])];
      const wrong = EMAILS.some((name) => {
        const times = names.filter((one) => one === name).length;
        return times > 1 || (times === 0 && role.gets.includes(name)) || (times === 1 && !allowed.includes(name));
      });
      return wrong ? [`${email} (${role.name}) got ${names.join(', ') || 'nothing'}`] : [];
    }),
  ];
}

/** Checks the calls of the app. If a recipient opts out during a call, its answer is not used. */
function appCalls({ record, app }: Facts): string[] {
  const line = (call: { eventId: string; email: string; offerCode: string | null }): string =>
    `${call.eventId} ${call.email} ${call.offerCode}`;
  const used = record.calls.filter(({ state }) => state === 'completed');
  const unused = new Set(record.calls.filter(({ state }) => state === 'skipped').map(({ eventId }) => eventId));
  return [
    ...compare(
      used.map(line),
      app.calls.filter(({ eventId, repeated }) => !repeated && !unused.has(eventId)).map(line),
    ),
    ...(app.refused > 0 ? [`${app.refused} requests with a wrong signature`] : []),
  ];
}

function holdOfWhoIsAway({ diary, leads }: Facts): string[] {
  return diary.entries
    .filter(({ deed }) => deed === 'away')
    .flatMap(({ email, detail: back }) => {
      const hold = leads.find(({ contact }) => contact.email === email)?.hold;
      const fits = hold?.source === 'out_of_office' && hold.until !== null && hold.until.slice(0, 10) > back;
      return fits ? [] : [`${email}: hold ${JSON.stringify(hold)}, back on ${back}`];
    });
}

function threading({ emails }: Facts): string[] {
  const ids = new Set(emails.map(({ messageId }) => messageId));
  const twice = ids.size === emails.length ? [] : ['a Message-ID was used twice'];
  return [
    ...twice,
    ...emails.flatMap((email) => {
      const { name, to, inReplyTo, references, subject, from } = email;
      const own = (other: EmailName): Email | undefined => emails.find((one) => one.to === to && one.name === other);
      const hello = own('hello');
      const before = name === 'offer' ? [hello] : name === 'nudge' ? [hello, own('offer')] : [];
      const expected = before.map((one) => one?.messageId);
      const fits =
        inReplyTo === expected.at(-1) &&
        references.join(' ') === expected.join(' ') &&
        from === hello?.from &&
        (expected.length === 0 ? !subject.startsWith('Re:') : subject === `Re: ${hello?.subject}`);
      return fits
        ? []
        : [
            `${to}/${name}: "${subject}" from ${from} replies to ${inReplyTo ?? 'nothing'}, References ${references.join(' ') || 'none'}`,
          ];
    }),
  ];
}

/**
 * Checks that nobody is emailed after an opt-out that the product has reported. An email claimed before may still
 * arrive; an email claimed later is a fault.
 */
function afterTheFact({ people, diary, record, leftSeenAt }: Facts): string[] {
  const left = new Map([...leftSeenAt].filter(([email]) => people.get(email)?.role.ends !== 'completed'));
  for (const { deed, email, at } of diary.entries) if (deed === 'unsubscribed') left.set(email, at);
  return record.sends
    .filter(({ email, claimedAt }) => claimedAt && left.has(email) && claimedAt > left.get(email)!)
    .map(
      ({ email, step, claimedAt }) =>
        `${email}/${step} was claimed at ${claimedAt!.toISOString()}, after ${left.get(email)!.toISOString()}`,
    );
}

type Mark = { [K in keyof SendRecord]: SendRecord[K] extends Date | null ? K : never }[keyof SendRecord];

function withMark({ sends }: ProductRecord, mark: Mark): string[] {
  return sends.filter((send) => send[mark]).map(({ email, step }) => `${email}/${step}`);
}

function deeds(deed: Deed, mark: Mark): (facts: Facts) => string[] {
  return ({ record, diary }) => compare(withMark(record, mark), [...diary.who(deed)]);
}

/** Returns the entries that are in only one of the lists, counting repetitions. */
function compare(product: readonly string[], others: readonly string[]): string[] {
  const rest = new Map<string, number>();
  for (const item of others) rest.set(item, (rest.get(item) ?? 0) + 1);
  const extra = product.filter((item) => {
    const left = rest.get(item) ?? 0;
    rest.set(item, left - 1);
    return left <= 0;
  });
  const missing = [...rest].filter(([, count]) => count > 0).map(([item]) => item);
  return [
    ...extra.map((item) => `only the product has ${item}`),
    ...missing.map((item) => `the product lacks ${item}`),
  ];
}
