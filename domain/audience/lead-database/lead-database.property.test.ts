import test from 'ava';
import fc from 'fast-check';
import { parse } from 'csv-parse/sync';
import { text as textOf } from 'node:stream/consumers';
import { FREE_MAIL_DOMAINS } from '../../../lib/free-mail.ts';
import { newId } from '../../../lib/ids.ts';
import { createCampaign, createContact, enroll } from '../../../test/harness/factories.ts';
import { rawDb } from '../../../test/harness/database.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import type { SegmentCondition } from '../../../db/models/segment.ts';
import { rebuildFacts } from '../../reporting/aggregates/rebuild.ts';
import { verifyFacts } from '../../reporting/aggregates/verify.ts';
import { createSegment } from '../segments/segments.ts';
import { COMPANY_SORTS, searchLeadCompanies } from './companies.ts';
import { measureLeadCoverage } from './coverage.ts';
import { exportLeadPeople } from './export.ts';
import { countLeadFacets } from './facets.ts';
import { PEOPLE_SORTS, searchLeadPeople } from './people.ts';
import type { LeadQuery } from './query.ts';

const NOW = new Date('2026-06-30T12:00:00Z');
const clock = new ManualClock(NOW);
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
});
test.after.always(() => world?.close());

const DAY = 24 * 3600_000;
const STATUSES = ['fresh', 'enrolled', 'contacted', 'replied', 'positive', 'meeting', 'bounced', 'unsubscribed'];

interface Email {
  id: string;
  campaign: string;
  sent: Date | null;
  bounced: Date | null;
  replied: Date | null;
  positive: Date | null;
}

interface Person {
  id: string;
  email: string;
  first_name: string;
  last_name: string;
  company: string;
  domain: string;
  title: string;
  seniority: string;
  department: string;
  subscribed: boolean;
  verification_status: string;
  esp_provider: string;
  created_at: Date;
  campaigns: string[];
  emails: Email[];
}

const drawn = fc.record({
  first: fc.constantFrom('Ada', 'bo', 'Cleo', ''),
  last: fc.constantFrom('Lovelace', 'ng', ''),
  company: fc.constantFrom('Acme', 'acme gmbh', 'Zeta', ''),
  host: fc.constantFrom('acme.test', 'zeta.test', 'gmail.com'),
  site: fc.constantFrom(undefined, 'https://www.Beta.test/about?x=1', 'beta.test'),
  title: fc.constantFrom(undefined, 'Head of Sales', 'Engineer', 'head of IT'),
  seniority: fc.constantFrom(undefined, 'Director', 'senior'),
  department: fc.constantFrom(undefined, 'Sales', 'engineering'),
  titleKey: fc.constantFrom('job_title', 'Job Title', 'title'),
  subscribed: fc.boolean(),
  verification_status: fc.constantFrom('valid', 'risky', 'invalid', 'unknown'),
  esp_provider: fc.constantFrom('', 'gmail', 'outlook'),
  createdDay: fc.nat(5),
  campaigns: fc.subarray([0, 1, 2]),
  emails: fc.array(
    fc.record({
      campaign: fc.nat(2),
      day: fc.integer({ min: 1, max: 200 }),
      fate: fc.constantFrom('sent', 'bounced', 'refused', 'replied', 'positive'),
      erased: fc.boolean(),
    }),
    { maxLength: 3 },
  ),
  changed: fc.boolean(),
});

/** Builds an email with the time stamps of its outcome. */
function emailOf(campaign: string, day: number, fate: string): Email {
  const at = new Date(NOW.getTime() - day * DAY);
  const later = new Date(at.getTime() + 3600_000);
  return {
    id: newId(),
    campaign,
    sent: fate === 'refused' ? null : at,
    bounced: fate === 'bounced' || fate === 'refused' ? later : null,
    replied: fate === 'replied' || fate === 'positive' ? later : null,
    positive: fate === 'positive' ? later : null,
  };
}

/** Creates people by inserts, updates and deletions. Campaign 2 is deleted at the end. */
async function office(people: readonly (typeof drawn extends fc.Arbitrary<infer T> ? T : never)[]) {
  const { organizationId: org } = await world.tenant();
  const { deps } = world;
  const campaigns: string[] = [];
  for (let n = 0; n < 3; n += 1) campaigns.push((await createCampaign(deps, org, [{ subject: 'Hello' }])).campaignId);
  const all: Person[] = [];
  for (const [index, one] of people.entries()) {
    const custom_fields: Record<string, string> = {
      ...(one.site ? { website: one.site } : {}),
      ...(one.title ? { [one.titleKey]: one.title } : {}),
      ...(one.seniority ? { Seniority: one.seniority } : {}),
      ...(one.department ? { department: one.department } : {}),
    };
    const fields = {
      email: `p${index}@${one.host}`,
      first_name: one.first,
      last_name: one.last,
      company: one.company,
      custom_fields,
      subscribed: one.subscribed,
      verification_status: one.verification_status,
      esp_provider: one.esp_provider,
      created_at: new Date(NOW.getTime() - (10 - one.createdDay) * DAY),
    };
    const before = { email: `old${index}@nowhere.test`, subscribed: true, created_at: fields.created_at };
    const id = await createContact(deps.db, NOW, org, one.changed ? before : fields);
    if (one.changed)
      await deps
        .db('contacts')
        .where({ id })
        .update({ ...fields, custom_fields: JSON.stringify(custom_fields) });
    for (const campaign of one.campaigns) await enroll(deps, org, campaigns[campaign]!, [id]);
    const emails: Email[] = [];
    for (const { campaign, day, fate, erased } of one.emails) {
      const email = emailOf(campaigns[campaign]!, day, fate);
      const row = { send_id: email.id, organization_id: org, contact_id: id, campaign_id: email.campaign };
      await deps.db('send_facts').insert({ ...row, sent_at: email.sent });
      await deps.db('send_facts').where({ send_id: email.id }).update({
        bounced_at: email.bounced,
        replied_at: email.replied,
        positive_at: email.positive,
      });
      if (erased) await deps.db('send_facts').where({ send_id: email.id }).delete();
      else emails.push(email);
    }
    all.push({
      id,
      ...fields,
      domain: one.site ? 'beta.test' : one.host === 'gmail.com' ? '' : one.host,
      title: one.title ?? '',
      seniority: (one.seniority ?? '').toLowerCase(),
      department: (one.department ?? '').toLowerCase(),
      campaigns: one.campaigns.filter((campaign) => campaign < 2).map((campaign) => campaigns[campaign]!),
      emails,
    });
  }
  await deps.db('campaigns').where({ id: campaigns[2] }).delete();
  return { org, campaigns, people: all };
}

const received = (who: Person) => who.emails.filter((email) => email.sent && !email.bounced);
const latest = (dates: (Date | null)[]) =>
  dates.reduce<Date | null>((last, at) => (at && (!last || at > last) ? at : last), null);
const contactedAt = (who: Person) => latest(received(who).map(({ sent }) => sent));

function statusOf(who: Person): string {
  if (who.emails.some(({ bounced }) => bounced)) return 'bounced';
  if (!who.subscribed) return 'unsubscribed';
  if (who.emails.some(({ positive }) => positive)) return 'positive';
  if (who.emails.some(({ replied }) => replied)) return 'replied';
  if (received(who).length > 0) return 'contacted';
  return who.campaigns.length > 0 ? 'enrolled' : 'fresh';
}

function holds(who: Person, { field, operator, values }: SegmentCondition): boolean {
  const negated = operator.startsWith('not_');
  if (field === 'emailed_by_campaign') {
    const sent = who.emails.filter((email) => email.sent);
    const any = operator.endsWith('exists') ? sent.length > 0 : sent.some(({ campaign }) => values.includes(campaign));
    return any !== negated;
  }
  const own = (
    {
      outreach_status: statusOf(who),
      verification_status: who.verification_status,
      seniority: who.seniority,
      department: who.department,
      job_title: who.title,
      company_domain: who.domain,
      company: who.company,
    } as Record<string, string>
  )[field]!.toLowerCase();
  const wanted = values.map((value) => value.toLowerCase());
  if (operator.endsWith('exists')) return (own !== '') !== negated;
  if (operator === 'contains') return wanted.some((value) => own.includes(value));
  if (operator === 'starts_with') return wanted.some((value) => own.startsWith(value));
  return wanted.includes(own) !== negated;
}

const condition = (campaigns: readonly string[]): fc.Arbitrary<SegmentCondition> =>
  fc.oneof(
    fc.record({
      field: fc.constantFrom('seniority', 'department', 'job_title', 'company_domain', 'company'),
      operator: fc.constantFrom('equal', 'not_equal', 'contains', 'starts_with', 'in', 'not_in'),
      values: fc.subarray(['director', 'Sales', 'head', 'beta.test', 'acme.test', 'Acme'], { minLength: 1 }),
    }),
    fc.record({
      field: fc.constantFrom('seniority', 'job_title', 'company_domain', 'emailed_by_campaign'),
      operator: fc.constantFrom('exists', 'not_exists'),
      values: fc.constant<string[]>([]),
    }),
    fc.record({
      field: fc.constant('outreach_status'),
      operator: fc.constantFrom('in', 'not_in'),
      values: fc.subarray(STATUSES, { minLength: 1 }),
    }),
    fc.record({
      field: fc.constant('verification_status'),
      operator: fc.constantFrom('in', 'not_in'),
      values: fc.subarray(['valid', 'invalid', 'unknown'], { minLength: 1 }),
    }),
    fc.record({
      field: fc.constant('emailed_by_campaign'),
      operator: fc.constantFrom('in', 'not_in', 'equal', 'not_equal'),
      values: fc.subarray([...campaigns], { minLength: 1 }),
    }),
  );

const select = (people: readonly Person[], match: 'all' | 'any', conditions: readonly SegmentCondition[]) =>
  people.filter(
    (who) => conditions.length === 0 || conditions[match === 'all' ? 'every' : 'some']((one) => holds(who, one)),
  );

const ascii = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0);
const moment = (at: Date | null) => at?.getTime() ?? -Infinity;
const ORDER: Record<(typeof PEOPLE_SORTS)[number], (a: Person, b: Person) => number> = {
  last_contacted: (a, b) => -ascii(moment(contactedAt(a)), moment(contactedAt(b))),
  created: (a, b) => -ascii(moment(a.created_at), moment(b.created_at)),
  emails_received: (a, b) => received(b).length - received(a).length,
  name: () => 0,
  company: () => 0,
};

function companiesOf(people: readonly Person[]) {
  const byDomain = new Map<string, Person[]>();
  for (const who of people) byDomain.set(who.domain, [...(byDomain.get(who.domain) ?? []), who]);
  return [...byDomain].filter(([domain]) => domain !== '').map(([domain, of]) => ({ domain, of }));
}

const counts = (of: readonly Person[]) => ({
  contacted: of.filter((who) => received(who).length > 0).length,
  replied: of.filter((who) => who.emails.some(({ replied }) => replied)).length,
  positive: of.filter((who) => who.emails.some(({ positive }) => positive)).length,
  meetings: 0,
  bounced: of.filter((who) => who.emails.some(({ bounced }) => bounced)).length,
  unsubscribed: of.filter((who) => !who.subscribed).length,
  fresh: of.filter((who) => statusOf(who) === 'fresh').length,
});

test('filters, orders, counts and the export say what a plain reading of the contacts says', async (t) => {
  const { org, campaigns, people } = await office(fc.sample(drawn, { numRuns: 70, seed: 5 }));
  const ctx = world.system(org);
  const suppressed = [people[3]!.email, people[4]!.email];
  await world.deps.db('suppressions').insert(
    [
      ...suppressed.map((email) => ({ email, kind: 'email', expires_at: null as Date | null })),
      { email: 'zeta.test', kind: 'domain', expires_at: null },
      { email: 'acme.test', kind: 'domain', expires_at: new Date(NOW.getTime() - 1) },
    ].map((row) => ({
      ...row,
      id: newId(),
      organization_id: org,
      source: 'manual',
      created_at: NOW,
      updated_at: NOW,
    })),
  );
  const isSuppressed = ({ email }: Person) => suppressed.includes(email) || email.endsWith('@zeta.test');
  let found = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        match: fc.constantFrom('all' as const, 'any' as const),
        conditions: fc.array(condition(campaigns), { maxLength: 3 }),
        segment: fc.option(fc.array(condition(campaigns), { minLength: 1, maxLength: 2 }), { nil: undefined }),
        q: fc.constantFrom(undefined, '', 'ada', 'ACME', 'p1', "o'%"),
        sort: fc.constantFrom(...PEOPLE_SORTS),
        companySort: fc.constantFrom(...COMPANY_SORTS),
      }),
      async ({ match, conditions, segment, q, sort, companySort }) => {
        const saved = segment && (await createSegment(ctx, { name: 'x', match: 'any', conditions: segment }));
        const query: LeadQuery = { match, conditions, segment_id: saved?.id, q };
        let expected = select(people, match, conditions);
        if (segment) expected = select(expected, 'any', segment);
        if (q)
          expected = expected.filter((who) =>
            `${who.email} ${who.first_name} ${who.last_name} ${who.company}`.toLowerCase().includes(q.toLowerCase()),
          );
        found += expected.length;

        const rows = [];
        for (let cursor: string | undefined; ;) {
          const page = await searchLeadPeople(ctx, { limit: 7, cursor }, query, sort);
          rows.push(...page.rows);
          if (!page.nextCursor) break;
          cursor = page.nextCursor;
        }
        const byId = new Map(people.map((who) => [who.id, who]));
        t.deepEqual(rows.map(({ id }) => id).sort(), expected.map(({ id }) => id).sort());
        for (const [index, row] of rows.entries()) {
          const who = byId.get(row.id)!;
          t.deepEqual(
            [row.outreach_status, row.emails_received, row.campaigns, row.last_contacted_at, row.last_replied_at],
            [
              statusOf(who) as typeof row.outreach_status,
              received(who).length,
              who.campaigns.length,
              contactedAt(who),
              latest(who.emails.map(({ replied }) => replied)),
            ],
          );
          t.deepEqual(
            [row.company_domain, row.job_title, row.seniority, row.department],
            [who.domain, who.title, who.seniority, who.department],
          );
          if (index > 0) t.true(ORDER[sort](byId.get(rows[index - 1]!.id)!, who) <= 0, sort);
        }

        const { rows: total, text } = await exportLeadPeople(ctx, query, sort);
        const exported = parse(await textOf(text), { columns: true }) as { id: string }[];
        t.is(total, expected.length);
        t.deepEqual(
          exported.map(({ id }) => id),
          rows.map(({ id }) => id),
        );

        const companies = [];
        for (let cursor: string | undefined; ;) {
          const page = await searchLeadCompanies(ctx, { limit: 1, cursor }, query, companySort);
          companies.push(...page.rows);
          if (!page.nextCursor) break;
          cursor = page.nextCursor;
        }
        const groups = companiesOf(expected);
        t.deepEqual(companies.map(({ domain }) => domain).sort(), groups.map(({ domain }) => domain).sort());
        for (const { name, esp_provider: provider, domain, ...row } of companies) {
          const { of } = groups.find((group) => group.domain === domain)!;
          t.deepEqual(row as object, {
            ...counts(of),
            people: of.length,
            last_contacted_at: latest(of.map(contactedAt)),
            sort_key: (row as unknown as { sort_key: string }).sort_key,
          });
          const often = (value: string, all: string[]) => all.filter((one) => one === value).length;
          for (const [value, all] of [
            [name, of.map((who) => who.company)],
            [provider, of.map((who) => who.esp_provider)],
          ] as const) {
            const known = all.filter(Boolean);
            t.is(often(value, known), Math.max(0, ...known.map((one) => often(one, known))));
          }
        }

        const fresh = expected.filter((who) => statusOf(who) === 'fresh');
        t.deepEqual(await measureLeadCoverage(ctx, query), {
          ...counts(expected),
          total: expected.length,
          contacted_90d: expected.filter((who) => moment(contactedAt(who)) >= NOW.getTime() - 90 * DAY).length,
          enrolled: expected.filter((who) => statusOf(who) === 'enrolled').length,
          fresh_reachable: fresh.filter((who) => who.verification_status !== 'invalid' && !isSuppressed(who)).length,
          companies: groups.length,
          companies_contacted: groups.filter(({ of }) => counts(of).contacted > 0).length,
          contacted_share: expected.length === 0 ? null : counts(expected).contacted / expected.length,
        });

        const facets = await countLeadFacets(ctx, query);
        const tally = (values: string[]) =>
          Object.fromEntries([...new Set(values)].map((key) => [key, values.filter((one) => one === key).length]));
        const of = (key: keyof typeof facets) =>
          Object.fromEntries(facets[key].map(({ key: name, count }) => [name, count]));
        t.deepEqual(of('outreach_status'), tally(expected.map(statusOf)));
        t.deepEqual(of('seniority'), tally(expected.map((who) => who.seniority)));
        t.deepEqual(of('department'), tally(expected.map((who) => who.department)));
        t.deepEqual(of('esp_provider'), tally(expected.map((who) => who.esp_provider || 'unknown')));
        t.deepEqual(of('verification_status'), tally(expected.map((who) => who.verification_status)));
      },
    ),
    { numRuns: 40 },
  );
  t.true(found > 200, `${found} found in all: too few to mean anything`);
});

test('what is kept of companies is what contacts say, folded or not; verify names what is wrong, rebuild mends it', async (t) => {
  const db = rawDb(world.deps.db);
  const drift = async (org: string) =>
    (await verifyFacts(world.deps, org))[0]!.differences.filter(({ table }) => table === 'lead_company_counts');
  await fc.assert(
    fc.asyncProperty(fc.array(drawn, { minLength: 1, maxLength: 12 }), fc.nat(11), async (people, pick) => {
      const { org, people: all } = await office(people);
      t.deepEqual(await drift(org), []);
      await db.raw('select heron_fold_lead_companies(?)', [org]);
      t.deepEqual(await drift(org), []);
      // Deletes one contact, marks another one as contacted, and merges the changed counts.
      await db('contacts')
        .where({ id: all[pick % all.length]!.id })
        .delete();
      await db('contact_outreach')
        .where({ contact_id: all[0]!.id })
        .update({ last_contacted_at: NOW, emails_received: 1 });
      t.deepEqual(await drift(org), []);
      await db.raw('select heron_fold_lead_companies(?)', [org]);
      t.deepEqual(await drift(org), []);
      t.is((await db('lead_company_counts').where({ organization_id: org, is_folded: false })).length, 0);
    }),
    { numRuns: 15 },
  );
  const { org } = await office(fc.sample(drawn, { numRuns: 6, seed: 1 }));
  await db('lead_company_counts').where({ organization_id: org }).update({ contacted: 7 });
  t.true((await drift(org)).length > 0);
  await rebuildFacts(world.deps, org);
  t.deepEqual(await drift(org), []);
});

test('the providers of free mail in the database are those of the one list', async (t) => {
  const stored = await rawDb(world.deps.db)('free_mail_domains').pluck('domain');
  t.deepEqual(new Set(stored), new Set(FREE_MAIL_DOMAINS), 'a migration has to bring free_mail_domains up to date');
});
