import test from 'ava';
import fc from 'fast-check';
import type { Row } from '../../../db/rows.ts';
import { walkAnalytics } from '../../../test/harness/analytics-walk.ts';
import { rawDb } from '../../../test/harness/database.ts';
import { createCampaign, createMailbox } from '../../../test/harness/factories.ts';
import { createSend } from '../../../test/harness/inbound.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { react } from '../../../test/harness/reactions.ts';
import { createSentLead } from '../../../test/harness/standing-leads.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { newId } from '../../../lib/ids.ts';
import { deleteCampaign } from '../../campaigns/remove.ts';
import { recordComplaint, recordSendBounce, recordSendUnsubscribe } from '../../sending/outcomes/effects.ts';
import { recordReply } from '../../sending/outcomes/reply.ts';
import { lockSubject } from '../../sending/outcomes/subject.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { registerSubscribers } from '../../platform/events/register.ts';
import { updateFacts } from './update-facts.ts';
import { announceClicks } from '../../campaigns/tracking/announce-clicks.ts';
import { createTicketLookup, recordClicks } from '../../campaigns/tracking/clicks.ts';
import { recordOpens } from '../../campaigns/tracking/opens.ts';
import { addRepetitions } from '../../campaigns/tracking/repetitions.ts';
import { METRICS, type Counts } from './metrics.ts';
import { ALL_CAMPAIGNS, MILESTONES } from './prospects.ts';
import { recordFacts } from './record.ts';
import { rebuildFacts } from './rebuild.ts';
import { verifyFacts } from './verify.ts';
import { externalText } from '../../platform/external-text.ts';

const SUBSCRIBERS = [updateFacts];
/** Figures are listed only in every fifth world, because this takes as long as creating a world. */
const WALKED_EVERY = 5;
const clock = new ManualClock(new Date('2026-03-28T20:00:00Z'));
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
  await registerSubscribers(world.deps, SUBSCRIBERS);
});
test.after.always(() => world?.close());

/** Two readers with different countries and mail programs. */
const READERS = [
  { userAgent: 'Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 Mail', country: 'DE' },
  { userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101 Thunderbird/115.12.0', country: null },
] as const;
const HUMAN = { method: 'GET', userAgent: 'Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 Mail', purpose: '' };
const MACHINE = { ...HUMAN, purpose: 'prefetch' };

const email = fc.nat(9);
const act = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('send' as const), campaign: fc.nat(2), mailbox: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('follow' as const), email }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('open' as const),
      email,
      machine: fc.boolean(),
      reader: fc.nat(1),
      repeated: fc.option(fc.integer({ min: 1, max: 3 }), { nil: 0 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('click' as const), email, link: fc.nat(1), machine: fc.boolean() }),
  },
  fc.record({
    kind: fc.constant('reply' as const),
    email,
    intent: fc.constantFrom('positive', 'negative', 'question', 'neutral', null),
  }),
  fc.record({ kind: fc.constant('bounce' as const), email, hard: fc.boolean() }),
  fc.record({ kind: fc.constant('complain' as const), email }),
  fc.record({ kind: fc.constant('unsubscribe' as const), email }),
  fc.record({ kind: fc.constant('forget' as const), email }),
  fc.record({ kind: fc.constant('deleteCampaign' as const), campaign: fc.nat(2) }),
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 400 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('react' as const) }) },
);
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;

interface Email {
  id: string;
  campaignId: string;
  contactId: string;
  links: string[];
}

async function openOffice() {
  const { organizationId: org } = await world.tenant();
  const campaigns: { id: string; stepIds: readonly string[]; deleted: boolean }[] = [];
  for (let n = 0; n < 3; n += 1) {
    const { campaignId, stepIds } = await createCampaign(world.deps, org, [{ subject: 'Hello' }, { subject: 'Again' }]);
    campaigns.push({ id: campaignId, stepIds, deleted: false });
  }
  const mailboxes: { id: string; email: string }[] = [];
  for (const name of ['ada', 'bo'])
    mailboxes.push({
      id: await createMailbox(world.deps, org, `${name}-${newId()}@ours.test`),
      email: `${name}@ours.test`,
    });
  return {
    org,
    campaigns,
    mailboxes,
    emails: [] as Email[],
    forgotten: new Set<string>(),
    /** Expected visitor of each email, as set when the first visit was processed. */
    visitors: new Map<string, string>(),
  };
}

type Office = Awaited<ReturnType<typeof openOffice>>;

async function perform(office: Office, one: Act): Promise<void> {
  const { org, campaigns, mailboxes, emails } = office;
  const { deps } = world;
  const ctx = world.system(org);
  if (one.kind === 'wait') return clock.advance(one.minutes * 60_000);
  if (one.kind === 'react') {
    await announceClicks(deps, 'test');
    await react(deps, SUBSCRIBERS);
    return nameVisitors(office);
  }
  if (one.kind === 'deleteCampaign') {
    const campaign = campaigns[one.campaign]!;
    if (campaign.deleted) return;
    // Publishes pending clicks first, because their events would have no campaign after the deletion.
    clock.advance(5_000);
    await announceClicks(deps, 'test');
    campaign.deleted = true;
    return deleteCampaign(ctx, campaign.id);
  }
  if (one.kind === 'send') {
    const campaign = campaigns[one.campaign]!;
    if (campaign.deleted) return;
    const mailbox = mailboxes[one.mailbox]!;
    const lead = await createSentLead(deps, org, {
      campaignId: campaign.id,
      stepId: campaign.stepIds[0]!,
      mailbox,
    });
    return announceSent(office, lead.sendId);
  }
  const target = emails[one.email];
  if (!target || campaigns.find(({ id }) => id === target.campaignId)!.deleted) return;
  switch (one.kind) {
    case 'follow': {
      const first = await deps.db('sends').where({ id: target.id }).first();
      const again = await deps
        .db('sends')
        .where({ enrollment_id: first.enrollment_id })
        .whereNot({ id: target.id })
        .first();
      if (again || !first.contact_id) return;
      const { id } = await createSend(deps, org, {
        campaignId: target.campaignId,
        enrollmentId: first.enrollment_id,
        stepId: campaigns.find(({ id: campaign }) => campaign === target.campaignId)!.stepIds[1]!,
        contactId: first.contact_id,
        mailboxId: first.mailbox_id,
        recipient: first.recipient,
      });
      return announceSent(office, id);
    }
    case 'open': {
      const hit = one.machine ? MACHINE : { ...HUMAN, ...READERS[one.reader]! };
      const [open] = await recordOpens(deps, [{ subject: target.id, hit }], 'test');
      if (one.repeated > 0) await addRepetitions(deps, org, [{ id: open!.id, times: one.repeated }], 'test');
      return;
    }
    case 'click': {
      const ticket = await createTicketLookup(deps)(target.links[one.link]!);
      await recordClicks(deps, [{ subject: ticket!, hit: one.machine ? MACHINE : HUMAN }], 'test');
      return;
    }
    case 'reply':
      return transact(ctx, async (tx) =>
        recordReply(tx, (await lockSubject(tx, target.id))!, {
          intent: one.intent,
          confidence: 1,
          unsubscribeRequest: false,
          source: 'reported',
          message: null,
        }),
      );
    case 'bounce':
      return transact(ctx, (tx) =>
        recordSendBounce(tx, target, { hard: one.hard, reason: externalText('no'), source: 'dsn' }),
      );
    case 'complain':
      return transact(ctx, async (tx) =>
        recordComplaint(tx, (await lockSubject(tx, target.id))!, { reason: externalText('spam'), source: 'arf' }),
      );
    case 'unsubscribe':
      return transact(ctx, (tx) => recordSendUnsubscribe(tx, { sendId: target.id, email: 'x@lead.test' }, 'link'));
    case 'forget':
      office.forgotten.add(target.contactId);
      await rawDb(deps.db).raw('delete from contacts where id = (select contact_id from sends where id = ?)', [
        target.id,
      ]);
  }
}

/** Records a sent email with two links. */
async function announceSent(office: Office, sendId: string): Promise<void> {
  const { deps } = world;
  const send = await deps.db('sends').where({ id: sendId }).first();
  const links = [newId(), newId()];
  for (const [index, id] of links.entries())
    await deps.db('tracked_links').insert({
      id,
      organization_id: office.org,
      send_id: sendId,
      step_id: send.step_id,
      url: `https://ours.test/${index}`,
      label: 'More',
      position: index,
      created_at: clock.now(),
    });
  office.emails.push({ id: sendId, campaignId: send.campaign_id, contactId: send.contact_id, links });
  await transact(world.system(office.org), async (tx) =>
    tx.emit('campaign.email_sent', {
      campaign_id: send.campaign_id,
      step_id: send.step_id,
      contact_id: send.contact_id,
      contact_email: send.recipient,
      email_account_id: send.mailbox_id,
      task_id: sendId,
      message_id: null,
      sent_at: clock.now().toISOString(),
    }),
  );
}

/** Returns opens and clicks that are known to come from people. */
function visitsOf(
  org: string,
): Promise<Pick<Row<'engagement_events'>, 'send_id' | 'country_code' | 'client' | 'device_type'>[]> {
  return world.deps
    .db('engagement_events')
    .where({ organization_id: org, machine: false, announce_at: null })
    .whereIn('type', ['open', 'click']);
}

/**
 * Sets the expected visitors. The first visit by a contact names the contact in the campaign permanently. A visit from
 * a deleted contact's email is counted as one of an unknown visitor.
 */
async function nameVisitors({ org, emails, visitors, forgotten }: Office): Promise<void> {
  const visited = new Set((await visitsOf(org)).map((row) => row.send_id));
  for (const { id, campaignId, contactId } of emails)
    if (visited.has(id) && !visitors.has(id))
      visitors.set(id, forgotten.has(contactId) ? id : `${campaignId}/${contactId}`);
}

/** Computes the expected number of visitors by campaign and origin from the rows. */
async function expectedVisitors({ org, emails, visitors }: Office): Promise<Record<string, number>> {
  const seen = new Map<string, Set<string>>();
  for (const row of await visitsOf(org)) {
    const email = emails.find(({ id }) => id === row.send_id)!;
    for (const [part, key] of [
      ['countries', row.country_code],
      ['clients', row.client],
      ['devices', row.device_type],
    ] as const) {
      const place = `${email.campaignId}/${part}/${key ?? ''}`;
      seen.set(place, (seen.get(place) ?? new Set()).add(visitors.get(email.id)!));
    }
  }
  return Object.fromEntries([...seen].map(([place, who]) => [place, who.size]));
}

async function storedVisitors(org: string): Promise<Record<string, number>> {
  const rows = await world.deps.db('fact_visits').where({ organization_id: org });
  return Object.fromEntries(
    rows
      .filter(({ visitors }) => visitors !== 0)
      .map(({ campaign_id: campaign, part, key, visitors }) => [`${campaign}/${part}/${key}`, visitors]),
  );
}

const earliest = (...moments: (Date | null)[]) =>
  moments.filter((at) => at !== null).sort((a, b) => a.getTime() - b.getTime())[0] ?? null;

type Milestones = Record<'sends' | (typeof MILESTONES)[number], unknown>;

/**
 * Computes the expected first times of each milestone per contact and campaign from the rows, in simple steps and
 * without the code under test.
 */
async function expectedProspects({ org, emails, forgotten }: Office): Promise<Record<string, Milestones>> {
  const sends = await world.deps.db('sends').where({ organization_id: org });
  const events = await world.deps
    .db('engagement_events')
    .where({ organization_id: org, machine: false, announce_at: null });
  const standing = emails
    .filter(({ contactId }) => !forgotten.has(contactId))
    .flatMap((one) => sends.filter(({ id, sent_at: at }) => id === one.id && at).map((send) => ({ ...one, send })));
  const groups = new Map<string, typeof standing>();
  for (const one of standing)
    for (const campaign of [one.campaignId, ALL_CAMPAIGNS]) {
      const place = `${one.contactId}/${campaign}`;
      groups.set(place, [...(groups.get(place) ?? []), one]);
    }
  const rowOf = (group: typeof standing): Milestones => {
    const mine = events.filter((event) => group.some(({ id }) => id === event.send_id));
    const first = (type: string, intent?: string) =>
      earliest(
        ...mine
          .filter((event) => event.type === type && (!intent || event.detail.intent === intent))
          .map(({ at }) => at as Date),
      );
    return {
      sends: group.length,
      opened_at: first('open'),
      clicked_at: first('click'),
      replied_at: first('reply'),
      positive_at: first('reply', 'positive'),
      bounced_at: earliest(...group.map(({ send }) => send.bounced_at)),
      complained_at: first('complaint'),
      unsubscribed_at: earliest(...group.map(({ send }) => send.unsubscribed_at)),
    };
  };
  return Object.fromEntries([...groups].map(([place, group]) => [place, rowOf(group)]));
}

async function storedProspects(org: string): Promise<Record<string, Milestones>> {
  const rows = await world.deps.db('prospect_facts').where({ organization_id: org });
  return Object.fromEntries(
    rows.map((row) => [
      `${row.contact_id}/${row.campaign_id}`,
      Object.fromEntries(['sends', ...MILESTONES].map((name) => [name, row[name]])) as Milestones,
    ]),
  );
}

/**
 * Computes the expected counts by campaign and hour from the rows, in simple steps and without the code under test.
 */
async function expectedCounts({ org, emails }: Office): Promise<Map<string, Counts>> {
  const counts = new Map<string, Counts>();
  const count = (campaignId: string, at: Date | null, metric: keyof Counts) => {
    if (!at) return;
    const key = `${campaignId}/${at.toISOString().slice(0, 13)}`;
    const row = counts.get(key) ?? (Object.fromEntries(METRICS.map((name) => [name, 0])) as Counts);
    row[metric] += 1;
    counts.set(key, row);
  };
  const sends = new Map(
    (await world.deps.db('sends').where({ organization_id: org })).map((row) => [row.id as string, row]),
  );
  const events = await world.deps.db('engagement_events').where({ organization_id: org });
  for (const { id, campaignId } of emails) {
    const send = sends.get(id)!;
    const mine = events.filter((event) => event.send_id === id && event.announce_at === null);
    const of = (type: string, machine: boolean) =>
      mine
        .filter((event) => event.type === type && event.machine === machine)
        .flatMap((event) => Array<Date>(event.times as number).fill(event.at as Date));
    const [opens, machineOpens] = [of('open', false), of('open', true)];
    const [clicks, machineClicks] = [of('click', false), of('click', true)];
    count(campaignId, earliest(send.sent_at, send.bounced_at), 'sent');
    count(campaignId, send.bounced_at, 'bounced');
    count(campaignId, earliest(...opens, ...machineOpens), 'opened');
    count(campaignId, earliest(...opens), 'opened_by_person');
    if (opens.length === 0) count(campaignId, earliest(...machineOpens), 'opened_by_machine');
    count(campaignId, earliest(...clicks), 'clicked');
    if (clicks.length === 0) count(campaignId, send.machine_clicked_at, 'clicked_by_machine');
    const replies = mine.filter(({ type }) => type === 'reply');
    count(campaignId, earliest(...replies.map(({ at }) => at as Date)), 'replied');
    for (const [intent, metric] of [
      ['positive', 'replied_positively'],
      ['negative', 'replied_negatively'],
      ['question', 'replied_with_question'],
      ['neutral', 'replied_neutrally'],
    ] as const) {
      const judged = replies.filter(({ detail }) => detail.intent === intent).map(({ at }) => at as Date);
      count(campaignId, earliest(...judged), metric);
    }
    const soft = mine.filter(({ type, detail }) => type === 'bounce' && detail.bounce_type === 'soft');
    if (!send.bounced_at) count(campaignId, earliest(...soft.map(({ at }) => at as Date)), 'bounced_softly');
    count(
      campaignId,
      earliest(...mine.filter(({ type }) => type === 'complaint').map(({ at }) => at as Date)),
      'complained',
    );
    count(campaignId, send.unsubscribed_at, 'unsubscribed');
    for (const at of opens) count(campaignId, at, 'opens');
    for (const at of machineOpens) count(campaignId, at, 'machine_opens');
    for (const at of clicks) count(campaignId, at, 'clicks');
    for (const at of machineClicks) count(campaignId, at, 'machine_clicks');
  }
  return counts;
}

async function storedCounts(org: string): Promise<Map<string, Counts>> {
  const rows = await world.deps.db('fact_campaign_hours').where({ organization_id: org });
  return new Map(
    rows
      .filter((row) => METRICS.some((metric) => row[metric] !== 0))
      .map((row) => [
        `${row.campaign_id}/${row.hour.toISOString().slice(0, 13)}`,
        Object.fromEntries(METRICS.map((metric) => [metric, row[metric]])) as Counts,
      ]),
  );
}

test.serial(
  'whatever happens in whatever order, the counts are those of the rows, and each number lists what it counts',
  async (t) => {
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 60 }), async (acts) => {
        const office = await openOffice();
        for (const one of acts) await perform(office, one);
        clock.advance(5_000);
        await perform(office, { kind: 'react' });
        t.deepEqual(
          Object.fromEntries(await storedCounts(office.org)),
          Object.fromEntries(await expectedCounts(office)),
        );
        t.deepEqual(await storedVisitors(office.org), await expectedVisitors(office));
        t.deepEqual(await storedProspects(office.org), await expectedProspects(office));
        const [report] = await verifyFacts(world.deps, office.org);
        t.is(report!.behind, 0);
        t.deepEqual(report!.differences, []);
        if (runs % WALKED_EVERY === 0) await walkAnalytics(t, world, office.org);
        runs += 1;
      }),
      { numRuns: 25 },
    );
  },
);

test.serial('verify names what is wrong, rebuild mends it, and neither changes what is right', async (t) => {
  const office = await openOffice();
  for (const kind of ['send', 'send', 'send'] as const) await perform(office, { kind, campaign: 0, mailbox: 0 });
  await perform(office, { kind: 'wait', minutes: 1 });
  await perform(office, { kind: 'open', email: 0, machine: false, reader: 0, repeated: 0 });
  await perform(office, { kind: 'react' });
  const before = await storedCounts(office.org);
  const visitors = await storedVisitors(office.org);
  const prospects = await storedProspects(office.org);
  const db = rawDb(world.deps.db);
  await db('fact_campaign_hours').where({ organization_id: office.org }).update({ sent: 7 });
  await db('fact_mailbox_days').where({ organization_id: office.org }).delete();
  await db('send_facts').where({ send_id: office.emails[1]!.id }).delete();
  await db('send_facts').where({ send_id: office.emails[0]!.id }).update({ opened_at: null });
  await db('send_groups').where({ send_id: office.emails[2]!.id }).update({ next_days: '{2026-03-29}' });
  await db('visit_facts').where({ organization_id: office.org, part: 'countries' }).delete();
  await db('visit_facts').where({ organization_id: office.org, part: 'clients' }).update({ key: 'Another' });
  await db('fact_visits').where({ organization_id: office.org, part: 'devices' }).update({ visitors: 9 });
  await db('prospect_facts')
    .where({ contact_id: office.emails[2]!.contactId, campaign_id: ALL_CAMPAIGNS })
    .update({ complained_at: clock.now() });
  const [report] = await verifyFacts(world.deps, office.org);
  const wrong = report!.differences.find(
    ({ table, key }) => table === 'prospect_facts' && key.contact_id === office.emails[2]!.contactId,
  );
  t.is(wrong?.key.campaign_id, ALL_CAMPAIGNS);
  t.deepEqual(Object.keys(wrong?.stored ?? {}), ['complained_at'], 'the column that is wrong');
  t.deepEqual(wrong?.expected, { complained_at: null });
  t.deepEqual([...new Set(report!.differences.map(({ table }) => table))].sort(), [
    'fact_campaign_days',
    'fact_campaign_hours',
    'fact_groups',
    'fact_mailbox_days',
    'fact_mailbox_hours',
    'fact_steps',
    'fact_visits',
    'prospect_facts',
    'send_facts',
    'send_groups',
    'visit_facts',
  ]);
  await rebuildFacts(world.deps, office.org);
  t.is((await verifyFacts(world.deps, office.org))[0]!.total, 0);
  t.deepEqual(Object.fromEntries(await storedCounts(office.org)), Object.fromEntries(before));
  t.deepEqual(await storedVisitors(office.org), visitors);
  t.deepEqual(await storedProspects(office.org), prospects);
});

test.serial('the same email named again changes nothing, and an email of no campaign has no facts', async (t) => {
  const office = await openOffice();
  await perform(office, { kind: 'send', campaign: 0, mailbox: 0 });
  await perform(office, { kind: 'react' });
  const again = (id: string) =>
    transact(world.system(office.org), (tx) => recordFacts(tx, [{ sendId: id, campaignId: null }]));
  const nothing = { emails: 0, prospectIds: [] };
  t.deepEqual(await again(office.emails[0]!.id), nothing);
  t.deepEqual(await again(newId()), nothing);
});

test.serial('milestones: each happens after the email was counted, and the first time stays', async (t) => {
  const office = await openOffice();
  await perform(office, { kind: 'send', campaign: 0, mailbox: 0 });
  await perform(office, { kind: 'react' });
  const [{ contactId, campaignId }] = office.emails as [Email];
  const happenings: [Act, (typeof MILESTONES)[number][]][] = [
    [{ kind: 'open', email: 0, machine: true, reader: 0, repeated: 0 }, []],
    [{ kind: 'open', email: 0, machine: false, reader: 0, repeated: 0 }, ['opened_at']],
    [{ kind: 'click', email: 0, link: 0, machine: false }, ['clicked_at']],
    [{ kind: 'reply', email: 0, intent: 'negative' }, ['replied_at']],
    [{ kind: 'reply', email: 0, intent: 'positive' }, ['positive_at']],
    [{ kind: 'complain', email: 0 }, ['complained_at']],
    [{ kind: 'unsubscribe', email: 0 }, ['unsubscribed_at']],
    [{ kind: 'bounce', email: 0, hard: false }, []],
    [{ kind: 'bounce', email: 0, hard: true }, ['bounced_at']],
    [{ kind: 'open', email: 0, machine: false, reader: 1, repeated: 0 }, []],
    [{ kind: 'click', email: 0, link: 1, machine: false }, []],
  ];
  for (const [happening, reached] of happenings) {
    await perform(office, { kind: 'wait', minutes: 1 });
    const before = await storedProspects(office.org);
    const at = clock.now();
    await perform(office, happening);
    clock.advance(5_000);
    await perform(office, { kind: 'react' });
    const now = Object.fromEntries(reached.map((name) => [name, at]));
    const expected = [campaignId, ALL_CAMPAIGNS].map((campaign) => {
      const place = `${contactId}/${campaign}`;
      return [place, { ...before[place], ...now }];
    });
    t.deepEqual(await storedProspects(office.org), Object.fromEntries(expected), JSON.stringify(happening));
  }
  t.deepEqual(await storedProspects(office.org), await expectedProspects(office));
});

test.serial('an email names its contact to be looked at anew when it is first opened, and not each time', async (t) => {
  const office = await openOffice();
  await perform(office, { kind: 'send', campaign: 0, mailbox: 0 });
  await perform(office, { kind: 'react' });
  const [{ id, contactId }] = office.emails as [Email];
  const open = async (machine: boolean) => {
    await perform(office, { kind: 'wait', minutes: 1 });
    await perform(office, { kind: 'open', email: 0, machine, reader: 0, repeated: 0 });
    return transact(world.system(office.org), (tx) => recordFacts(tx, [{ sendId: id, campaignId: null }]));
  };
  t.deepEqual(await open(true), { emails: 1, prospectIds: [] });
  t.deepEqual(await open(false), { emails: 1, prospectIds: [contactId] });
  t.deepEqual(await open(false), { emails: 1, prospectIds: [] });
});
