import test from 'ava';
import { recountCampaignFlow } from '../../domain/reporting/aggregates/campaign-flow.ts';
import { verifyFacts } from '../../domain/reporting/aggregates/verify.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { newId } from '../../lib/ids.ts';
import { assertConcurrentChangeRefused } from '../../test/harness/concurrent-change.ts';
import { openDesk } from '../../test/harness/campaign-desk.ts';
import { enroll } from '../../test/harness/factories.ts';
import { createWorld, type World } from '../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

test('the flow of a campaign counts who stands where, who went which way, and what each wording brought', async (t) => {
  const desk = await openDesk(world);
  const { db, clock } = world.deps;
  const org = desk.tenant.organizationId;
  const campaign = await desk.campaign({
    steps: [
      { subject: 'Hello', body_plain: 'Hi' },
      { kind: 'wait', action: { type: 'wait', wait_minutes: 60 } },
      { body_plain: 'Again' },
    ],
  });
  const [first, wait, last] = (await desk.call('GET', `/campaigns/${campaign.id}/steps`)).body.map(
    (one: any) => one.id,
  );
  const flow = async () => (await desk.call('GET', `/campaigns/${campaign.id}/flow`)).body;
  t.deepEqual(await flow(), { campaign_id: campaign.id, pending: 0, steps: [], links: [], wordings: [] });
  /** Creates a lead in a state, with the steps that it has entered. */
  const lead = async (state: string, ...met: string[]) => {
    const contact = await desk.contact();
    const [id] = (await enroll(world.deps, org, campaign.id, [contact])) as [string];
    await db('enrollments')
      .where({ id })
      .update({ state, current_step_id: met.at(-1) ?? null });
    for (const [index, step] of met.entries())
      await db('step_runs').insert({
        id: newId(),
        organization_id: org,
        enrollment_id: id,
        campaign_id: campaign.id,
        contact_id: contact,
        step_id: step,
        seq: index + 1,
        kind: 'email',
        state: 'completed',
        started_at: clock.now(),
      });
  };
  await lead('pending');
  await lead('active', first);
  await lead('active', first, wait);
  await lead('active', first, wait);
  await lead('replied', first, wait);
  await lead('completed', first, wait, last);
  const variant = newId();
  for (const [variantId, sent, replied] of [
    ['00000000-0000-0000-0000-000000000000', 4, 1],
    [variant, 2, 2],
  ] as const)
    await db('fact_steps').insert({
      organization_id: org,
      campaign_id: campaign.id,
      step_id: first,
      variant_id: variantId,
      sent,
      replied,
    });
  const { pending, steps, links, wordings } = await flow();
  const byStep = new Map(steps.map(({ step_id: step, ...counts }: any) => [step, counts]));
  t.is(pending, 1);
  t.deepEqual(byStep.get(first), { standing: 1, ended: 0, reached: 5 });
  t.deepEqual(byStep.get(wait), { standing: 2, ended: 1, reached: 4 });
  t.deepEqual(byStep.get(last), { standing: 0, ended: 1, reached: 1 });
  t.deepEqual(
    new Set(links),
    new Set([
      { from: first, to: wait, leads: 4 },
      { from: wait, to: last, leads: 1 },
    ]),
  );
  t.like(wordings[0], { step_id: first, variant_id: null, emails_sent: 4, replies: 1, reply_rate: 25 });
  t.like(wordings[1], { variant_id: variant, emails_sent: 2, reply_rate: 100 });

  // Removed leads are not counted. Wrong counts are detected and repaired.
  const differences = async () => (await verifyFacts(world.deps, org))[0]!.differences.map(({ table }) => table);
  const flowCounts = async () => (await differences()).filter((table) => table === 'campaign_flow_counts');
  t.deepEqual(await flowCounts(), []);
  const gone = await db('enrollments').where({ campaign_id: campaign.id, state: 'replied' }).first();
  const left = await desk.call('DELETE', `/campaigns/${campaign.id}/leads/${gone.contact_id}`);
  t.true(left.status < 300, left.text);
  t.deepEqual(await flowCounts(), []);
  t.deepEqual(
    new Map((await flow()).links.map((link: any) => [link.to, link.leads])),
    new Map([
      [wait, 3],
      [last, 1],
    ]),
  );
  await db('campaign_flow_counts').where({ organization_id: org, step_id: wait }).update({ leads: 7 });
  t.true((await flowCounts()).length > 0);
  await transact(world.system(org), recountCampaignFlow);
  t.deepEqual(await flowCounts(), []);
  // Rows of the same count are merged in PostgreSQL. This must not change any count.
  const before = await flow();
  await db('campaign_flow_counts').insert(
    Array.from({ length: 3000 }, (_, n) => ({
      organization_id: org,
      campaign_id: campaign.id,
      step_id: wait,
      state: 'active',
      leads: n % 2 === 0 ? 1 : -1,
    })),
  );
  await db.raw('select heron_fold_campaign_flow(:org) from generate_series(1, 2000)', { org });
  t.is((await db('campaign_flow_counts').where({ organization_id: org, is_folded: false })).length, 0);
  t.deepEqual(await flow(), before);
  t.is((await desk.call('DELETE', `/campaigns/${campaign.id}`)).status, 204);
  t.deepEqual(await flowCounts(), []);
});

test('who names the state they have read overwrites nobody: of two edits at once the second is refused', async (t) => {
  const desk = await openDesk(world);
  const { campaign } = await desk.ready(0);
  const mailboxId = await desk.mailbox();
  const at = `/campaigns/${campaign.id}`;
  const made = new Map<string, string>();
  const make = async (path: string, body: object) => {
    const { id, updated_at } = (await desk.call('POST', path, body)).body;
    made.set(`${path}/${id}`, updated_at);
    return `${path}/${id}`;
  };
  const [step] = (await desk.call('GET', `${at}/steps`)).body;
  made.set(`${at}/steps/${step.id}`, step.updated_at);
  const variants = `${at}/ab-variants`;
  const hook = { url: 'http://hooks.example.com/in' };
  const meeting = { invitee_email: 'ada@lead.test', event_name: 'Call', scheduled_for: '2026-03-05T09:00:00Z' };
  const rows: [path: string, edit: (attempt: number) => object, method?: string][] = [
    [at, () => ({ daily_limit: 7 })],
    [`${at}/steps/${step.id}`, () => ({ subject: 'Mine' })],
    [await make(variants, { name: 'B', step_id: step.id }), (n) => ({ weight: n })],
    [`${at}/advanced`, (n) => ({ settings: { ab_testing: { enabled: true, auto_promote_winner: n > 1 } } })],
    [`${at}/senders`, (n) => ({ senders: [{ email_account_id: mailboxId, weight: n }] }), 'PUT'],
    [`/emails/${mailboxId}`, (n) => ({ name: `Name ${n}` })],
    [await make('/templates', { name: 'Email' }), (n) => ({ subject: `Subject ${n}` })],
    [await make('/crm/tasks', { title: 'Call' }), (n) => ({ title: `Call ${n}` })],
    [await make('/meetings', meeting), (n) => ({ location: `Room ${n}` })],
    [
      await make('/goals', { name: 'Goal', kind: 'custom', definition: { event_name: 'user.paid' } }),
      (n) => ({ name: `Goal ${n}` }),
    ],
    [await make('/webhooks', hook), (n) => ({ ...hook, description: `${n}` })],
  ];
  for (const [path, edit, method = 'PATCH'] of rows) {
    const seen = made.get(path) ?? (await desk.call('GET', path)).body.updated_at;
    await assertConcurrentChangeRefused(t, seen, (more, n) => desk.call(method, path, { ...edit(n), ...more }));
  }
});

test('an estimate of a campaign is over every email it has still to send, and tries another schedule', async (t) => {
  const desk = await openDesk(world);
  const { campaign } = await desk.ready(3, {
    steps: [{ subject: 'Hello', body_plain: 'Hi' }, { body_plain: 'Again' }],
    days: 127,
    daily_limit: 2,
  });
  const estimate = (plan: object) => desk.call('POST', '/campaigns-estimate', { campaign_id: campaign.id, ...plan });
  t.like((await estimate({})).body, { recipients: 6, mailboxes: 1, daily_capacity: 2 });
  t.like((await estimate({ daily_limit: 6, start_time: '00:00', end_time: '00:00' })).body, { daily_capacity: 6 });
  t.like((await estimate({ end_date: '2000-01-01T00:00:00Z' })).body, { estimated_finish_at: null });
  t.is((await estimate({ campaign_id: newId() })).status, 404);
  t.is((await estimate({ days: 900, timezone: 'Mars' })).status, 400);
  t.is((await desk.call('POST', '/campaigns-estimate', {})).status, 400);

  // One lead has finished and one has received its first email. Three emails are left: one for the second lead, two for
  // the third.
  const { db, clock } = world.deps;
  const [through, underWay] = await db('enrollments').where({ campaign_id: campaign.id }).select('id', 'contact_id');
  const steps = await db('campaign_steps').where({ campaign_id: campaign.id }).orderBy('position').pluck('id');
  const now = clock.now();
  const got = (lead: any, step: string, state = 'sent') => ({
    id: newId(),
    organization_id: desk.tenant.organizationId,
    campaign_id: campaign.id,
    enrollment_id: lead.id,
    contact_id: lead.contact_id,
    step_id: step,
    state,
    recipient: 'lead@example.com',
    slot_at: now,
    slot_day: now.toISOString().slice(0, 10),
    created_at: now,
    updated_at: now,
  });
  await db('sends').insert([got(through, steps[0]), got(through, steps[1], 'bounced'), got(underWay, steps[0])]);
  await db('sends').insert(got(underWay, steps[1], 'reserved'));
  await db('enrollments').where({ id: through.id }).update({ state: 'bounced' });
  await db('enrollments').where({ id: underWay.id }).update({ state: 'active' });
  t.like((await estimate({})).body, { recipients: 3 });
});

test('a step is put behind another one, on a branch, at the beginning, and moved, and no link is lost', async (t) => {
  const desk = await openDesk(world);
  const campaign = await desk.campaign({
    steps: [
      { name: 'A', subject: 'Hello', body_plain: 'Hi' },
      { name: 'B', body_plain: 'Again' },
      { name: 'C', body_plain: 'Last' },
    ],
  });
  const at = `/campaigns/${campaign.id}/steps`;
  const steps = async (): Promise<any[]> => (await desk.call('GET', at)).body;
  const idOf = async (name: string) => (await steps()).find((one) => one.name === name).id;
  /** Returns the steps in order, each with the names of its target steps. */
  const drawn = async () => {
    const rows = await steps();
    const names = new Map(rows.map(({ id, name }) => [id, name]));
    return rows.map(
      ({ name, conditions }) => `${name}>${conditions.branches.map(({ to }: any) => names.get(to) ?? '-').join()}`,
    );
  };
  t.deepEqual(await drawn(), ['A>B', 'B>C', 'C>']);
  const [a, b, c] = [await idOf('A'), await idOf('B'), await idOf('C')];
  const add = (body: object) => desk.call('POST', at, body);
  const wait = { kind: 'wait', action: { type: 'wait', wait_minutes: 60 } };
  t.is((await add({ name: 'W', ...wait, place: { after: a } })).status, 201);
  t.deepEqual(await drawn(), ['A>W', 'W>B', 'B>C', 'C>']);
  const w = await idOf('W');
  const move = (id: string, place: object) => desk.call('PATCH', `${at}/${id}`, { place });
  t.is((await move(w, { after: c })).status, 200);
  t.deepEqual(await drawn(), ['A>B', 'B>C', 'C>W', 'W>']);
  t.is((await move(b, { after: null })).status, 200);
  t.deepEqual(await drawn(), ['B>A', 'A>C', 'C>W', 'W>']);
  const branches = [{ to: c, when: [{ field: 'opened', operator: 'equals', value: true }] }, { to: w }];
  t.is((await desk.call('PATCH', `${at}/${a}`, { conditions: { branches } })).status, 200);
  t.is((await add({ name: 'T', body_plain: 'Thanks', place: { after: a, branch: 0 } })).status, 201);
  t.deepEqual(await drawn(), ['B>A', 'A>T,W', 'T>C', 'C>W', 'W>']);
  for (const [id, place] of [
    [a, { after: a }],
    [a, { after: newId() }],
    [b, { after: a, branch: 7 }],
  ] as const) {
    const refused = await move(id, place);
    t.is(refused.status, 400, refused.text);
    t.regex(refused.body.problems[0].path, /^body\.place\./);
  }
  // Step A has two branches. If it moved behind C, its branch to T would lead backwards.
  t.is((await move(a, { after: c })).status, 400);
  t.deepEqual(await drawn(), ['B>A', 'A>T,W', 'T>C', 'C>W', 'W>']);
});
