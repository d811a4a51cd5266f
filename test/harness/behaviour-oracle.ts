import type { ExecutionContext } from 'ava';
import { readBreakdown, readSummary } from '../../domain/reporting/acquisition/cohort.ts';
import {
  largestDropOff,
  listFunnelPeople,
  readFunnel,
  type FunnelStep,
} from '../../domain/reporting/acquisition/funnels.ts';
import { DROP_OFFS, listProspects, PROSPECT_FILTERS } from '../../domain/reporting/acquisition/prospects.ts';
import { DAY_MS } from '../../lib/clock.ts';
import type { Office, Sent } from './acquisition-office.ts';

/**
 * Reference implementation of prospects, funnels and spend. It uses plain steps over the rows and none of the code
 * under test.
 */

/** Rows of a workspace, as in the tables. */
interface RawRows {
  replies: any[];
  /** Opens that a person caused, without those of proxies and scanners. */
  opens: any[];
  people: any[];
  events: any[];
  conversions: any[];
  primary(kind: string): string | null;
}

const time = (at: Date | null): number => at?.getTime() ?? -Infinity;
const least = (moments: Date[]): Date | null =>
  moments.length === 0 ? null : new Date(Math.min(...moments.map((at) => at.getTime())));
const answered = (raw: RawRows, send: Sent, positive: boolean): Date | null =>
  least(
    raw.replies
      .filter((row) => row.send_id === send.id && (!positive || row.detail.intent === 'positive'))
      .map(({ at }) => at),
  );

function expectedProspects(office: Office, raw: RawRows, campaignId: string | undefined) {
  return office.contacts.flatMap(({ id, gone, email }, index) => {
    const sends = office.sent.filter(
      (send) => send.contact === index && (!campaignId || send.campaignId === campaignId),
    );
    if (gone || sends.length === 0) return [];
    const person = raw.people.find((row) => row.contact_id === id)?.id;
    const conversions = raw.conversions.filter((row) => row.person_id === person);
    const reached = (kind: string) => {
      const goal = raw.primary(kind);
      return least(conversions.filter((row) => row.goal_id === goal).map((row) => row.occurred_at));
    };
    const moments = (positive: boolean) =>
      sends.flatMap((send) => {
        const at = answered(raw, send, positive);
        return at ? [at] : [];
      });
    const sentAt = sends.map((send) => send.sentAt);
    const activity = [...sentAt, ...moments(false), ...moments(true), ...conversions.map((row) => row.occurred_at)];
    return [
      {
        contact_id: id,
        email,
        sends: sends.length,
        first_sent_at: least(sentAt),
        last_sent_at: new Date(Math.max(...sentAt.map(time))),
        opened_at: least(
          raw.opens.filter((row) => sends.some(({ id: sent }) => sent === row.send_id)).map(({ at }) => at),
        ),
        replied_at: least(moments(false)),
        positive_at: least(moments(true)),
        signed_up_at: reached('signup'),
        activated_at: reached('activation'),
        paid_at: reached('paid'),
        activity_at: new Date(Math.max(...activity.map(time))),
      },
    ];
  });
}
type Prospect = ReturnType<typeof expectedProspects>[number];

const FILTERED: Record<string, (row: Prospect) => boolean> = {
  interested: (row) => row.positive_at !== null,
  signed_up: (row) => row.signed_up_at !== null,
  activated: (row) => row.activated_at !== null,
  paid: (row) => row.paid_at !== null,
  silent: (row) => !row.replied_at && !row.signed_up_at && !row.activated_at && !row.paid_at,
  sent_no_reply: (row) => row.replied_at === null,
  interested_no_signup: (row) => row.positive_at !== null && row.signed_up_at === null,
  signup_no_activation: (row) => row.signed_up_at !== null && row.activated_at === null,
  activation_no_paid: (row) => row.activated_at !== null && row.paid_at === null,
  signup_no_paid: (row) => row.signed_up_at !== null && row.paid_at === null,
};

/**
 * Lists the prospects by every filter and drop-off, of all campaigns and of one, and compares every field and the
 * order.
 */
export async function compareProspects(t: ExecutionContext, office: Office, raw: RawRows): Promise<void> {
  const ctx = office.world.system(office.org);
  const standing = office.campaigns.find(({ deleted }) => !deleted)?.id;
  for (const campaignId of new Set([undefined, standing])) {
    const expected = expectedProspects(office, raw, campaignId).sort(
      (a, b) => time(b.activity_at) - time(a.activity_at) || (a.contact_id < b.contact_id ? 1 : -1),
    );
    const searches = [
      {},
      ...PROSPECT_FILTERS.map((filter) => ({ filter })),
      ...DROP_OFFS.map((dropoff) => ({ dropoff })),
      { filter: 'interested' as const, dropoff: 'signup_no_paid' as const },
      { q: 'ACME' },
    ];
    for (const search of searches) {
      const listed: unknown[] = [];
      for (let cursor: string | undefined; ;) {
        const page = await listProspects(ctx, { ...search, campaignId }, { limit: 2, cursor });
        listed.push(...page.rows);
        if (!page.nextCursor) break;
        cursor = page.nextCursor;
      }
      const { filter, dropoff, q } = search as { filter?: string; dropoff?: string; q?: string };
      const wanted = expected.filter(
        (row) =>
          (!filter || FILTERED[filter]!(row)) &&
          (!dropoff || FILTERED[dropoff]!(row)) &&
          (!q || row.email.includes('acme')),
      );
      t.deepEqual(
        listed.map((row: any) => Object.fromEntries(Object.keys(expected[0] ?? {}).map((name) => [name, row[name]]))),
        wanted as any[],
        JSON.stringify({ ...search, campaignId }),
      );
    }
  }
}

interface Occurrence {
  who: string;
  id: string;
  at: number;
}

function occurrences(office: Office, raw: RawRows, step: FunnelStep): Occurrence[] {
  const who = (personId: string | null, contactId?: string | null): string | null => {
    const person = raw.people.find(({ id }) => id === personId);
    return person ? (person.contact_id ?? person.id) : (contactId ?? null);
  };
  const found =
    step.kind === 'event'
      ? raw.events
          .filter(
            ({ name, data }) =>
              name === step.eventName && step.predicates.every((p) => 'value' in p && data[p.path] === p.value),
          )
          .map((row) => ({
            who: who(row.person_id, row.contact_id),
            id: row.id as string,
            at: row.occurred_at as Date,
          }))
      : step.kind === 'goal'
        ? raw.conversions
            .filter((row) => row.goal_id === step.goalId)
            .map((row) => ({ who: who(row.person_id), id: row.id as string, at: row.occurred_at as Date }))
        : office.sent
            .filter((send) => !office.contacts[send.contact]!.gone)
            .filter((send) => !step.campaignId || send.campaignId === step.campaignId)
            .map((send) => ({
              who: send.contactId as string | null,
              id: `${step.kind}/${send.id}`,
              at: step.kind === 'confirmed_send' ? send.sentAt : answered(raw, send, true),
            }));
  return found.flatMap((row) => (row.who && row.at ? [{ who: row.who, id: row.id, at: row.at.getTime() }] : []));
}

function expectedFunnel(
  office: Office,
  raw: RawRows,
  { steps, from, to, windowDays }: { steps: readonly FunnelStep[]; from: Date; to: Date; windowDays: number },
): number[] {
  const taken = steps.map((step) => occurrences(office, raw, step));
  const furthest = new Map<string, number>();
  for (const entry of taken[0]!.filter(({ at }) => at >= from.getTime() && at < to.getTime())) {
    const used = [entry];
    for (const step of taken.slice(1)) {
      const next = step
        .filter(({ who, id, at }) => who === entry.who && at >= used.at(-1)!.at && !used.some((row) => row.id === id))
        .filter(({ at }) => at < entry.at + windowDays * DAY_MS)
        .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))[0];
      if (!next) break;
      used.push(next);
    }
    furthest.set(entry.who, Math.max(furthest.get(entry.who) ?? 0, used.length));
  }
  return steps.map((_, index) => [...furthest.values()].filter((depth) => depth > index).length);
}

/**
 * Compares funnels with every kind of step, with ties, several starts, repeated steps, and limits of range and window.
 */
export async function compareFunnels(t: ExecutionContext, office: Office, raw: RawRows): Promise<void> {
  const ctx = office.world.system(office.org);
  const standing = office.campaigns.find(({ deleted }) => !deleted)?.id;
  const [signup, activation, paid] = office.goals as [string, string, string];
  const opened: FunnelStep = { kind: 'event', eventName: 'app.opened', predicates: [] };
  const pro: FunnelStep = {
    kind: 'event',
    eventName: 'app.opened',
    predicates: [{ path: 'plan', op: 'eq', value: 'pro' }],
  };
  const chains: FunnelStep[][] = [
    [{ kind: 'confirmed_send' }, { kind: 'positive_reply' }, { kind: 'goal', goalId: signup }],
    [{ kind: 'confirmed_send' }, opened, { kind: 'goal', goalId: paid }],
    [opened, opened, opened, pro],
    [{ kind: 'goal', goalId: signup }, pro, { kind: 'goal', goalId: activation }, { kind: 'goal', goalId: signup }],
    ...(standing
      ? [
          [
            { kind: 'confirmed_send', campaignId: standing },
            { kind: 'confirmed_send' },
            { kind: 'goal', goalId: signup },
          ] satisfies FunnelStep[],
        ]
      : []),
  ];
  const [long, end] = [new Date(office.start.getTime() - 40 * DAY_MS), new Date(office.clock.now().getTime() + 1)];
  const edge = office.sent[2]?.sentAt ?? office.start;
  for (const steps of chains)
    for (const range of [
      { from: long, to: end, windowDays: 30 },
      { from: edge, to: end, windowDays: 1 },
      { from: long, to: edge, windowDays: 10 },
    ]) {
      const people = await readFunnel(ctx, { steps, ...range });
      t.deepEqual(people, expectedFunnel(office, raw, { steps, ...range }), JSON.stringify({ steps, range }));
      for (const [index, count] of people.entries()) {
        await countPeople(t, ctx, { steps, ...range }, index + 1, count);
        if (index > 0) await countPeople(t, ctx, { steps, ...range }, index + 1, people[index - 1]! - count, true);
      }
      const losses = people.map((count, index) => (index === 0 ? 0 : people[index - 1]! - count));
      const worst = losses.findIndex((loss) => loss > 0 && losses.every((other) => other <= loss));
      t.is(largestDropOff(people), worst === -1 ? null : worst);
    }
}

/** Checks that the list of a step has as many people as the funnel's figure, page by page, each once. */
async function countPeople(
  t: ExecutionContext,
  ctx: Parameters<typeof listFunnelPeople>[0],
  funnel: Parameters<typeof listFunnelPeople>[1],
  step: number,
  count: number,
  isLost = false,
): Promise<void> {
  const ids: string[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await listFunnelPeople(ctx, funnel, { step, lost: isLost }, { limit: 3, cursor });
    t.is(page.total, count);
    ids.push(...page.rows.map(({ id }) => id));
    if (!page.nextCursor) break;
    cursor = page.nextCursor;
  }
  t.is(ids.length, count, JSON.stringify({ funnel, step }));
  t.is(new Set(ids).size, count);
}

/** Compares the cost of campaigns with the last value set, in each campaign's summary and in the breakdown. */
export async function compareSpend(t: ExecutionContext, office: Office): Promise<void> {
  const ctx = office.world.system(office.org);
  const range = {
    from: new Date(office.start.getTime() - 40 * DAY_MS),
    to: new Date(office.clock.now().getTime() + 1),
    windowDays: 30,
  };
  const said = (id: string) => {
    const amountMinor = office.spent.get(id);
    return amountMinor === undefined ? null : { amountMinor, currency: 'EUR' };
  };
  for (const { id, deleted } of office.campaigns)
    if (!deleted) t.deepEqual((await readSummary(ctx, { ...range, campaignId: id })).spend, said(id));
  t.is((await readSummary(ctx, range)).spend, null);
  for (const { key, spend } of (await readBreakdown(ctx, range, 'campaign')).rows) t.deepEqual(spend, said(key!));
}
