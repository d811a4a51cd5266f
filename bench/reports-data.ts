import { HOUR_MS, DAY_MS } from '../lib/clock.ts';
import { METRICS } from '../domain/facts/metrics.ts';
import { ALL_CAMPAIGNS } from '../domain/facts/prospects.ts';
import type { Cell } from './fill.ts';

/**
 * The emails of a bench of reports, each from its number alone, so that every table can be written by itself: a few campaigns have most of the emails,
 * they become more towards now, with two seasons a year, and contacts come round in turn.
 */

/** How much is written. */
export interface Shape {
  contacts: number;
  sends: number;
  engagements: number;
  campaigns: number;
}

/** Whose the rows are. */
export interface Office {
  organizationId: string;
  campaignIds: string[];
  stepIds: string[];
  mailboxIds: string[];
  goals: Record<'signup' | 'activation' | 'paid', string>;
  now: Date;
}

export interface Email {
  n: number;
  contact: number;
  campaign: number;
  step: number;
  mailbox: number;
  at: number;
  opened: boolean;
  clicked: boolean;
  replied: boolean;
  positive: boolean;
  bounced: boolean;
}

const DAYS = 730;
/** Of ten contacts one is a person of whom events are known, and of three people one converts. */
const PEOPLE_EVERY = 10;
const CONVERTS_EVERY = 3;
const EVENTS = ['user.signed-up', 'app.opened', 'invoice.paid', 'app.opened'] as const;
const EVENTS_EACH = 8;
const SPACES = {
  contact: 1,
  send: 2,
  variant: 3,
  segment: 4,
  label: 5,
  person: 6,
  event: 7,
  engagement: 8,
  visitor: 9,
} as const;

/**
 * Ids that sort as their numbers do, so that keys are written in order. They are of a time far ahead: what is kept for a while goes by the time in its id, and
 * would be swept away in the middle of the measurement.
 */
export function idOf(space: keyof typeof SPACES, n: number): string {
  return `f000000${SPACES[space]}-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;
}

/** A number from 0 to 1 that is drawn for `n`, the same every time. */
function drawn(n: number, salt: number): number {
  let x = Math.imul(n ^ (salt * 0x9e3779b1), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  x ^= x >>> 16;
  return (x >>> 0) / 2 ** 32;
}

/** The email of a number below `shape.sends`, counted from the oldest. */
export function emailOf(n: number, shape: Shape, office: Office): Email {
  const u = (n + drawn(n, 1)) / shape.sends;
  const r = drawn(n, 2);
  const contact = n % shape.contacts;
  return {
    n,
    contact,
    // The campaign at place k of the list has k times fewer emails than the first.
    campaign: Math.floor(Math.exp(drawn(n, 3) * Math.log(shape.campaigns))) - 1,
    step: Math.floor(n / shape.contacts) % 3,
    mailbox: contact % office.mailboxIds.length,
    at: Math.floor(office.now.getTime() - DAYS * DAY_MS * (1 - Math.sqrt(u) - 0.015 * Math.sin(8 * Math.PI * u))),
    opened: r < 0.4,
    clicked: r < 0.08,
    replied: r < 0.04,
    positive: r < 0.01,
    bounced: r > 0.99,
  };
}

function* emails(shape: Shape, office: Office): Generator<Email> {
  for (let n = 0; n < shape.sends; n += 1) yield emailOf(n, shape, office);
}

/** A moment as PostgreSQL reads it, to the millisecond. Days are remembered: Date writes a hundred times slower than this. */
function iso(ms: number): string {
  const day = Math.floor(ms / DAY_MS);
  let name = DAY_NAMES.get(day);
  if (name === undefined) DAY_NAMES.set(day, (name = new Date(day * DAY_MS).toISOString().slice(0, 11)));
  const rest = ms - day * DAY_MS;
  const second = Math.floor(rest / 1000);
  const fraction = String(rest % 1000).padStart(3, '0');
  return `${name}${TWO[Math.floor(second / 3600)]}:${TWO[Math.floor(second / 60) % 60]}:${TWO[second % 60]}.${fraction}Z`;
}
const DAY_NAMES = new Map<number, string>();
const TWO = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));
const moment = (there: boolean, ms: number): string | null => (there ? iso(ms) : null);
const pick = <T>(of: readonly T[], n: number): T => of[n % of.length]!;

type Table = { table: string; columns: readonly string[]; rows: Iterable<readonly Cell[]> };

/** The tables in the order in which they are written: what takes longest first. */
export function* tablesOf(shape: Shape, office: Office): Generator<Table> {
  const org = office.organizationId;
  const now = iso(office.now.getTime());
  yield {
    table: 'engagement_events',
    columns:
      'id organization_id type send_id campaign_id step_id contact_id mailbox_id machine client device_type country_code at'.split(
        ' ',
      ),
    rows: numbered(shape.engagements, (n) => {
      const { at, ...email } = emailOf(n % shape.sends, shape, office);
      const where = [
        pick(['Apple Mail', 'Gmail', 'Outlook'], n),
        pick(['mobile', 'desktop'], n),
        pick(['DE', 'FR', 'US', 'GB', null], n),
      ];
      return [
        idOf('engagement', n),
        org,
        n % 10 < 8 ? 'open' : 'click',
        idOf('send', email.n),
        office.campaignIds[email.campaign]!,
        office.stepIds[email.campaign * 3 + email.step]!,
        idOf('contact', email.contact),
        office.mailboxIds[email.mailbox]!,
        n % 4 === 0 ? 't' : 'f',
        ...where,
        iso(at + 3 * HOUR_MS),
      ];
    }),
  };
  yield {
    table: 'contacts',
    columns: ['id', 'organization_id', 'email', 'first_name', 'last_name', 'company', 'created_at', 'updated_at'],
    rows: numbered(shape.contacts, (n) => {
      const company = Math.floor(n / 8);
      const name = [`First${n % 997}`, `Last${n % 9973}`, `Company ${company}`];
      return [idOf('contact', n), org, `p${n}@company${company}.test`, ...name, now, now];
    }),
  };
  yield {
    table: 'send_facts',
    columns:
      'send_id organization_id contact_id campaign_id step_id variant_id mailbox_id sent_at opened_at clicked_at replied_at positive_at bounced_at visitor offer angle cta copy_hash audience_source segment_id category_ids'.split(
        ' ',
      ),
    rows: mapped(emails(shape, office), (email) => sendFact(email, org, office)),
  };
  const people = Math.ceil(shape.contacts / PEOPLE_EVERY);
  yield {
    table: 'people',
    columns: ['id', 'organization_id', 'contact_id', 'created_at'],
    rows: numbered(people, (p) => [idOf('person', p * PEOPLE_EVERY), org, idOf('contact', p * PEOPLE_EVERY), now]),
  };
  yield {
    table: 'product_events',
    columns: 'id organization_id contact_id person_id name data occurred_at received_at named_by'.split(' '),
    rows: numbered(people * EVENTS_EACH, (e) => {
      const n = Math.floor(e / EVENTS_EACH) * PEOPLE_EVERY;
      const data = `{"plan": "${pick(['free', 'pro'], e)}"}`;
      return [
        idOf('event', e),
        org,
        idOf('contact', n),
        idOf('person', n),
        pick(EVENTS, e),
        data,
        eventAt(e, office),
        now,
        'email',
      ];
    }),
  };
  yield {
    table: 'conversions',
    columns:
      'id organization_id goal_id goal_revision event_id person_id occurred_at value_minor currency created_at'.split(
        ' ',
      ),
    rows: conversions(people, office, now),
  };
  yield {
    table: 'prospect_facts',
    columns:
      'organization_id contact_id campaign_id sends first_sent_at last_sent_at opened_at clicked_at replied_at positive_at bounced_at activity_at goal_ids'.split(
        ' ',
      ),
    rows: prospects(shape, office),
  };
  yield* counts(shape, office);
}

function* numbered(count: number, row: (n: number) => Cell[]): Generator<Cell[]> {
  for (let n = 0; n < count; n += 1) yield row(n);
}

function* mapped<In, Out>(rows: Iterable<In>, map: (row: In) => Out): Generator<Out> {
  for (const row of rows) yield map(row);
}

function sendFact(email: Email, org: string, office: Office): Cell[] {
  const { n, campaign: c, step: s, at } = email;
  return [
    idOf('send', n),
    org,
    idOf('contact', email.contact),
    office.campaignIds[c]!,
    office.stepIds[c * 3 + s]!,
    n % 5 < 2 ? idOf('variant', c * 2 + (n % 2)) : null,
    office.mailboxIds[email.mailbox]!,
    iso(at),
    moment(email.opened, at + 3 * HOUR_MS),
    moment(email.clicked, at + 5 * HOUR_MS),
    moment(email.replied, at + DAY_MS),
    moment(email.positive, at + DAY_MS),
    moment(email.bounced, at + 60_000),
    email.opened ? idOf('visitor', c * 10_000_000 + email.contact) : null,
    pick(['Trial', 'Demo', 'Audit', null], c),
    pick(['Pain', 'Gain', null], s),
    pick(['Book', 'Reply'], c),
    `copy${c * 3 + s}`,
    pick(['import', 'segment', 'api', 'manual'], c),
    c % 4 === 1 ? idOf('segment', c % 12) : null,
    n % 3 === 0 ? `{${idOf('label', n % 7)}}` : '{}',
  ];
}

function eventAt(e: number, office: Office): string {
  return iso(Math.floor(office.now.getTime() - drawn(e, 4) * DAYS * DAY_MS));
}

const converts = (contact: number): boolean => contact % (PEOPLE_EVERY * CONVERTS_EVERY) === 0;

function goalOf(e: number, { goals }: Office): string {
  const name = pick(EVENTS, e);
  return name === 'user.signed-up' ? goals.signup : name === 'invoice.paid' ? goals.paid : goals.activation;
}

function* conversions(people: number, office: Office, now: string): Generator<Cell[]> {
  for (let e = 0; e < people * EVENTS_EACH; e += 1) {
    const contact = Math.floor(e / EVENTS_EACH) * PEOPLE_EVERY;
    if (!converts(contact)) continue;
    const worth = pick(EVENTS, e) === 'invoice.paid' ? ['4900', 'EUR'] : [null, null];
    const [event, person] = [idOf('event', e), idOf('person', contact)];
    yield [event, office.organizationId, goalOf(e, office), 1, event, person, eventAt(e, office), ...worth, now];
  }
}

/** The rows of a contact: of each campaign that wrote to it, and of all together. */
function* prospects(shape: Shape, office: Office): Generator<Cell[]> {
  const goalIds = `{${Object.values(office.goals).sort().join(',')}}`;
  for (let contact = 0; contact < shape.contacts; contact += 1) {
    const mine: Email[] = [];
    for (let n = contact; n < shape.sends; n += shape.contacts) mine.push(emailOf(n, shape, office));
    let converted = -Infinity;
    if (converts(contact))
      for (let k = 0; k < EVENTS_EACH; k += 1)
        converted = Math.max(converted, Date.parse(eventAt((contact / PEOPLE_EVERY) * EVENTS_EACH + k, office)));
    const row = (campaignId: string, of: readonly Email[]): Cell[] => {
      const sent = of.map(({ at }) => at);
      const first = (what: 'opened' | 'clicked' | 'replied' | 'positive' | 'bounced', after: number) => {
        const moments = of.filter((email) => email[what]).map(({ at }) => at + after);
        return moment(moments.length > 0, Math.min(...moments));
      };
      const replied = of.filter((email) => email.replied).map(({ at }) => at + DAY_MS);
      return [
        office.organizationId,
        idOf('contact', contact),
        campaignId,
        of.length,
        iso(Math.min(...sent)),
        iso(Math.max(...sent)),
        first('opened', 3 * HOUR_MS),
        first('clicked', 5 * HOUR_MS),
        first('replied', DAY_MS),
        first('positive', DAY_MS),
        first('bounced', 60_000),
        iso(Math.max(...sent, ...replied, converted)),
        converts(contact) ? goalIds : '{}',
      ];
    };
    if (mine.length === 0) continue;
    yield row(ALL_CAMPAIGNS, mine);
    for (const campaign of new Set(mine.map((email) => email.campaign)))
      yield row(
        office.campaignIds[campaign]!,
        mine.filter((email) => email.campaign === campaign),
      );
  }
}

/** What is counted of an email at the hour in which it was sent: as many rows as the reaction keeps, with about their counts. */
function countsOf(email: Email): number[] {
  const { opened, clicked, replied, positive, bounced } = email;
  const counted: Partial<Record<(typeof METRICS)[number], boolean>> = {
    sent: true,
    bounced,
    opened,
    opened_by_person: opened,
    clicked,
    replied,
    replied_positively: positive,
    opens: opened,
    clicks: clicked,
  };
  return METRICS.map((metric) => (counted[metric] ? 1 : 0));
}

function* counts(shape: Shape, office: Office): Generator<Table> {
  const hour = (at: number) => Math.floor(at / HOUR_MS);
  const day = (at: number) => Math.floor(at / DAY_MS);
  const hourText = (n: number) => iso(n * HOUR_MS);
  const dayText = (n: number) => iso(n * DAY_MS).slice(0, 10);
  const parts = [
    ['campaign', (email: Email) => email.campaign, office.campaignIds],
    ['mailbox', (email: Email) => email.mailbox, office.mailboxIds],
  ] as const;
  for (const [part, of, ids] of parts)
    for (const [unit, at, text] of [
      ['hour', hour, hourText],
      ['day', day, dayText],
    ] as const)
      yield {
        table: `fact_${part}_${unit}s`,
        columns: ['organization_id', `${part}_id`, unit, ...METRICS],
        rows: mapped(summed(shape, office, of, at), ([key, time, sums]) => [
          office.organizationId,
          ids[key]!,
          text(time),
          ...sums,
        ]),
      };
  yield {
    table: 'fact_steps',
    columns: ['organization_id', 'campaign_id', 'step_id', 'variant_id', ...METRICS],
    rows: mapped(
      summed(
        shape,
        office,
        // Campaign, step, and the variant with one more for none.
        ({ campaign, step, n }) => (campaign * 3 + step) * 3 + (n % 5 < 2 ? 1 + (n % 2) : 0),
        () => 0,
      ),
      ([key, , sums]) => {
        const [variant, step] = [key % 3, Math.floor(key / 3)];
        const campaign = Math.floor(step / 3);
        return [
          office.organizationId,
          office.campaignIds[campaign]!,
          office.stepIds[step]!,
          variant === 0 ? ALL_CAMPAIGNS : idOf('variant', campaign * 2 + variant - 1),
          ...sums,
        ];
      },
    ),
  };
}

/** Sums by a key and a time. Emails come in the order of their moments, so that a time is done soon after it has passed. */
function* summed(
  shape: Shape,
  office: Office,
  keyOf: (email: Email) => number,
  timeOf: (at: number) => number,
): Generator<[key: number, time: number, sums: number[]]> {
  const open = new Map<number, Map<number, number[]>>();
  const taken = function* (until: number): Generator<[number, number, number[]]> {
    for (const [time, byKey] of open) {
      if (time >= until) continue;
      open.delete(time);
      for (const [key, sums] of byKey) yield [key, time, sums];
    }
  };
  for (const email of emails(shape, office)) {
    const time = timeOf(email.at);
    let byKey = open.get(time);
    if (!byKey) {
      yield* taken(time - 2);
      open.set(time, (byKey = new Map()));
    }
    const counted = countsOf(email);
    const sums = byKey.get(keyOf(email));
    if (!sums) byKey.set(keyOf(email), counted);
    else for (let index = 0; index < sums.length; index += 1) sums[index]! += counted[index]!;
  }
  yield* taken(Infinity);
}
