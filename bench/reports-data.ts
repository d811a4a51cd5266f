import { HOUR_MS, DAY_MS } from '../lib/clock.ts';
import { METRICS } from '../domain/reporting/aggregates/metrics.ts';
import { ALL_CAMPAIGNS } from '../domain/reporting/aggregates/prospects.ts';
import type { Cell } from './fill.ts';
import {
  byContact,
  DAYS,
  drawn,
  emailOf,
  emails,
  idOf,
  iso,
  mapped,
  pick,
  type Email,
  type Office,
  type Shape,
  type Table,
} from './reports-emails.ts';
import { groupTables, groupValues } from './reports-groups.ts';

/** One of `PEOPLE_EVERY` contacts is a person with known events. One of `CONVERTS_EVERY` such people converts. */
const PEOPLE_EVERY = 10;
const CONVERTS_EVERY = 3;
const EVENTS = ['user.signed-up', 'app.opened', 'invoice.paid', 'app.opened'] as const;
const EVENTS_EACH = 8;
const moment = (there: boolean, ms: number): string | null => (there ? iso(ms) : null);

/** Yields the tables in the order in which they are written, the slowest first. */
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
  yield* groupTables(shape, office);
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

function sendFact(email: Email, org: string, office: Office): Cell[] {
  const { n, campaign: c, at } = email;
  const { campaign, step, variant, offer, angle, cta, mailbox, audience_source, segment, copy, category } = groupValues(
    email,
    office,
  );
  return [
    idOf('send', n),
    org,
    idOf('contact', email.contact),
    campaign,
    step,
    variant,
    mailbox,
    iso(at),
    moment(email.opened, at + 3 * HOUR_MS),
    moment(email.clicked, at + 5 * HOUR_MS),
    moment(email.replied, at + DAY_MS),
    moment(email.positive, at + DAY_MS),
    moment(email.bounced, at + 60_000),
    email.opened ? idOf('visitor', c * 10_000_000 + email.contact) : null,
    offer,
    angle,
    cta,
    copy,
    audience_source,
    segment,
    category === null ? '{}' : `{${category}}`,
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

/** Yields the outreach rows of a contact: one per campaign and one in total. */
function* prospects(shape: Shape, office: Office): Generator<Cell[]> {
  const goalIds = `{${Object.values(office.goals).sort().join(',')}}`;
  for (const mine of byContact(shape, office)) {
    const { contact } = mine[0]!;
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
    yield row(ALL_CAMPAIGNS, mine);
    for (const campaign of new Set(mine.map((email) => email.campaign)))
      yield row(
        office.campaignIds[campaign]!,
        mine.filter((email) => email.campaign === campaign),
      );
  }
}

/**
 * Returns the counts of an email for the hour of its sending. There are as many rows as the subscriber would store,
 * with similar counts.
 */
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
        // Number that combines campaign, step and variant. One extra value means no variant.
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

/**
 * Sums values by key and period. Emails are ordered by time, so the sums of a period are complete soon after its end.
 */
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
