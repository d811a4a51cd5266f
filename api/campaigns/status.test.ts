import test from 'ava';
import { completeCampaign, pauseCampaign } from '../../domain/sending/control/status.ts';
import { addLeads } from '../../domain/audience/leads/add.ts';
import { resolveSenders } from '../../domain/sending/campaign/sender-pool.ts';
import { reader, transact } from '../../domain/platform/kernel/transact.ts';
import { ManualClock } from '../../test/harness/manual-clock.ts';
import { newId } from '../../lib/ids.ts';
import { maskOf } from '../../lib/permissions.ts';
import { openDesk, problemPaths, type Desk } from '../../test/harness/campaign-desk.ts';
import { createApiKey } from '../../test/harness/factories.ts';
import { createWorld, type World } from '../../test/harness/world.ts';
import { externalText } from '../../domain/platform/external-text.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

const DAY_MS = 86_400_000;
const start = (desk: Desk, id: string, body?: object, key?: string) =>
  desk.call('POST', `/campaigns/${id}/start`, body, key);
const ctxOf = (desk: Desk) => world.system(desk.tenant.organizationId);

/** Reserves a slot and raises the counts, as the allocator would. */
async function reserve(desk: Desk, campaignId: string, contactId: string): Promise<string> {
  const { db } = world.deps;
  const org = desk.tenant.organizationId;
  const enrollment = await db('enrollments').where({ campaign_id: campaignId, contact_id: contactId }).first();
  const mailbox = await db('mailboxes').where({ organization_id: org }).first();
  const day = new Date().toISOString().slice(0, 10);
  await db('enrollments').where({ id: enrollment.id }).update({ state: 'active', launched_at: new Date() });
  const id = newId();
  await db('sends').insert({
    id,
    organization_id: org,
    campaign_id: campaignId,
    enrollment_id: enrollment.id,
    step_id: newId(),
    contact_id: contactId,
    mailbox_id: mailbox.id,
    state: 'reserved',
    recipient: 'x@example.com',
    slot_at: new Date(),
    slot_day: day,
    created_at: new Date(),
    updated_at: new Date(),
  });
  await db('daily_counters')
    .insert({ organization_id: org, scope: 'campaign', scope_id: campaignId, day, count: 1 })
    .onConflict(['scope_id', 'scope', 'day'])
    .merge();
  return id;
}

test('start says why it refuses, one reason at a time, and starts once nothing is in the way', async (t) => {
  const desk = await openDesk(world);
  const { id } = await desk.campaign();
  const refused = async () => {
    const answer = await start(desk, id);
    t.is(answer.status, 400);
    return answer.body.code;
  };
  t.is(await refused(), 'campaign_invalid');
  const step = (await desk.call('POST', `/campaigns/${id}/steps`)).body;
  const empty = await start(desk, id);
  t.is(empty.body.code, 'empty_step_body');
  t.deepEqual(problemPaths(empty), [`steps.${step.id}.body_plain`]);
  await desk.call('PATCH', `/campaigns/${id}/steps/${step.id}`, { subject: 'Hi', body_html: '<p>Hi</p>' });
  t.is(await refused(), 'campaign_no_mailbox');
  const mailbox = await desk.mailbox({ status: 'inactive' });
  t.is(await refused(), 'campaign_no_mailbox');
  await world.deps.db('mailboxes').where({ id: mailbox }).update({ status: 'active' });
  t.is(await refused(), 'no_leads');
  await desk.call('POST', `/campaigns/${id}/leads`, { contact_ids: [await desk.contact()] });
  await world.deps
    .db('campaigns')
    .where({ id })
    .update({ end_date: new Date(Date.now() - DAY_MS) });
  t.is(await refused(), 'campaign_invalid');
  await desk.call('PATCH', `/campaigns/${id}`, { end_date: null });
  t.is((await desk.row(id)).status, 'draft');

  const answer = await start(desk, id);
  t.deepEqual([answer.status, answer.body], [200, { status: 'started' }]);
  t.like(await desk.row(id), { status: 'active', control_epoch: 1 });
  t.deepEqual(await desk.outbox(`campaign/${id}`), [{ kind: 'signal', workflow_id: `campaign/${id}` }]);
  t.true((await desk.events()).includes('campaign.started'));
  t.is((await start(desk, id)).status, 400);
  t.is((await desk.row(id)).control_epoch, 1);
});

test('a list that verification refuses whole parks the campaign, also when the request has an Idempotency-Key', async (t) => {
  const desk = await openDesk(world);
  await desk.mailbox();
  const { id } = await desk.campaign({ steps: [{ subject: 'a', body_plain: 'a' }] });
  const [bad, risky] = [
    await desk.contact({ verification_status: 'invalid' }),
    await desk.contact({ verification_status: 'risky' }),
  ];
  await desk.call('POST', `/campaigns/${id}/leads`, { contact_ids: [bad, risky] });
  const response = await fetch(`${world.url}/v1/campaigns/${id}/start`, {
    method: 'POST',
    headers: { authorization: `Bearer ${desk.tenant.apiKey}`, 'idempotency-key': 'k1' },
  });
  t.is(response.status, 400);
  t.is(((await response.json()) as { code: string }).code, 'leads_undeliverable');
  t.like(await desk.row(id), { status: 'paused_undeliverable', control_epoch: 1 });
  t.deepEqual((await desk.logs(id)).at(-1), 'campaign_paused');

  await desk.call('PATCH', `/campaigns/${id}`, { risky_emails: true });
  t.is((await start(desk, id)).status, 200);
  t.is((await desk.row(id)).status, 'active');
});

test('an edit that asks for a start is judged as it leaves the campaign; refused, it parks it and changes nothing else', async (t) => {
  const desk = await openDesk(world);
  const { campaign, contacts } = await desk.ready();
  await world.deps.db('contacts').where({ id: contacts[0]! }).update({ verification_status: 'risky' });
  const edit = (body: object, key: string) =>
    fetch(`${world.url}/v1/campaigns/${campaign.id}`, {
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${desk.tenant.sessionToken}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify(body),
    });
  const refused = await edit({ name: 'Renamed', status: 'active' }, 'k1');
  t.is(refused.status, 400);
  t.is(((await refused.json()) as { code: string }).code, 'leads_undeliverable');
  t.like(await desk.row(campaign.id), { status: 'paused_undeliverable', name: campaign.name });
  t.false((await desk.logs(campaign.id)).includes('campaign_updated'));
  t.is((await edit({ name: 'Renamed', status: 'active' }, 'k1')).status, 400, 'the key is free again');

  t.is((await edit({ risky_emails: true, status: 'active' }, 'k2')).status, 200);
  t.is((await desk.row(campaign.id)).status, 'active');
});

test('a list likely to bounce needs an acknowledgement', async (t) => {
  const desk = await openDesk(world);
  const {
    campaign: { id },
  } = await desk.ready(0);
  const { db } = world.deps;
  await db.raw(
    `insert into contacts (id, organization_id, email, verification_status, created_at, updated_at)
     select gen_random_uuid(), ?, 'c' || i || '@list.example', case when i <= 10 then 'invalid' when i <= 30 then 'valid' else 'unknown' end, now(), now()
     from generate_series(1, 100) i`,
    [desk.tenant.organizationId],
  );
  t.deepEqual((await desk.call('POST', `/campaigns/${id}/leads`, { segment_ids: [await desk.segment()] })).body, {
    added: 100,
    already: 0,
  });
  t.is((await start(desk, id)).body.code, 'list_bounce_risk');
  t.is((await desk.row(id)).status, 'draft');
  t.is((await start(desk, id, { acknowledge_list_risk: true })).status, 200);
});

test('starting with every lead finished turns continuous on; new leads wake it, stop and start walk the statuses', async (t) => {
  const desk = await openDesk(world);
  const {
    campaign: { id },
  } = await desk.ready(1);
  await world.deps.db('enrollments').where({ campaign_id: id }).update({ state: 'completed' });
  t.is((await start(desk, id)).status, 200);
  const idle = await desk.row(id);
  t.like(idle, { status: 'active', continuous: true });
  t.truthy(idle.idle_since);
  t.is(await transact(ctxOf(desk), (tx) => completeCampaign(tx, id)), 'idle');
  await desk.call('POST', `/campaigns/${id}/leads`, { contact_ids: [await desk.contact()] });
  t.is((await desk.row(id)).idle_since, null);
  t.is(await transact(ctxOf(desk), (tx) => completeCampaign(tx, id)), 'busy');

  t.deepEqual((await desk.call('POST', `/campaigns/${id}/stop`)).body, { status: 'stopped' });
  t.like(await desk.row(id), { status: 'paused', control_epoch: 2 });
  t.is((await desk.call('POST', `/campaigns/${id}/stop`)).status, 400);
  t.is((await start(desk, id)).status, 200);
  t.like(await desk.row(id), { status: 'active', control_epoch: 3 });
  t.deepEqual(
    (await desk.events()).filter((type) => /started|paused/.test(type)),
    ['campaign.started', 'campaign.paused', 'campaign.started'],
  );
});

test('a completed campaign starts again with a new lead; a refusal is logged and leaves it completed', async (t) => {
  const desk = await openDesk(world);
  const {
    campaign: { id },
  } = await desk.ready(1);
  await start(desk, id);
  await world.deps.db('enrollments').where({ campaign_id: id }).update({ state: 'completed' });
  t.is(await transact(ctxOf(desk), (tx) => completeCampaign(tx, id)), 'completed');
  t.is((await desk.row(id)).status, 'completed');

  const contact = await desk.contact();
  t.deepEqual(await transact(ctxOf(desk), (tx) => addLeads(tx, world.deps.config, id, [contact, contact, newId()])), {
    added: 1,
    already: 0,
  });
  t.is((await desk.row(id)).status, 'active');
  t.is((await desk.logs(id)).at(-1), 'campaign_restarted');
  t.deepEqual(await transact(ctxOf(desk), (tx) => addLeads(tx, world.deps.config, id, [contact])), {
    added: 0,
    already: 1,
  });

  await world.deps.db('enrollments').where({ campaign_id: id }).update({ state: 'completed' });
  await transact(ctxOf(desk), (tx) => completeCampaign(tx, id));
  await world.deps
    .db('mailboxes')
    .where({ organization_id: desk.tenant.organizationId })
    .update({ status: 'inactive' });
  await transact(ctxOf(desk), async (tx) => addLeads(tx, world.deps.config, id, [await desk.contact()]));
  t.is((await desk.row(id)).status, 'completed');
  const log = await world.deps.db('campaign_logs').where({ campaign_id: id }).orderBy('id', 'desc').first();
  t.like(log, { event_type: 'campaign_restart_refused', metadata: { code: 'campaign_no_mailbox' } });
});

test('status by PATCH goes the way of start and stop, with their checks and rights', async (t) => {
  const desk = await openDesk(world);
  const {
    campaign: { id },
  } = await desk.ready(1);
  const writer = await createApiKey(world.deps, desk.tenant.organizationId, desk.tenant.userId, {
    permissions: maskOf(['WRITE_CAMPAIGNS']),
  });
  const patch = (body: object, key?: string) => desk.call('PATCH', `/campaigns/${id}`, body, key);
  t.is((await patch({ status: 'active', name: 'Sneaky' }, writer.apiKey)).status, 403);
  t.like(await desk.row(id), { status: 'draft', name: 'Spring' });
  t.deepEqual(problemPaths(await patch({ status: 'completed' })), ['body.status']);
  t.is((await patch({ status: 'draft' })).status, 200);
  t.is((await patch({ status: 'active', name: 'Summer' })).body.status, 'active');
  t.like(await desk.row(id), { status: 'active', name: 'Summer' });
  t.is((await patch({ status: 'paused' })).body.status, 'paused');
  await world.deps
    .db('mailboxes')
    .where({ organization_id: desk.tenant.organizationId })
    .update({ status: 'inactive' });
  t.is((await patch({ status: 'active' })).body.code, 'campaign_no_mailbox');
});

test('a schedule edit of an active campaign gives slots back and raises the epoch; other edits and drafts do not', async (t) => {
  const desk = await openDesk(world);
  const {
    campaign: { id },
    contacts,
  } = await desk.ready(1);
  const epoch = async () => (await desk.row(id)).control_epoch;
  await desk.call('PATCH', `/campaigns/${id}`, { start_time: '08:00' });
  t.is(await epoch(), 0);
  await start(desk, id);
  for (const edit of [
    { start_date: null, start_time: '07:00' },
    { end_date: '2100-01-01T00:00:00Z' },
    { timezone: 'Europe/Budapest' },
    { days: 127 },
    { end_time: '18:00' },
    { schedule_windows: [[], [{ start: 0, end: 60 }], [], [], [], [], []] },
    { entry_delay_minutes: 5 },
  ]) {
    const before = await epoch();
    const send = await reserve(desk, id, contacts[0]!);
    t.is((await desk.call('PATCH', `/campaigns/${id}`, edit)).status, 200, JSON.stringify(edit));
    t.is(await epoch(), before + 1, JSON.stringify(edit));
    t.is(await world.deps.db('sends').where({ id: send }).first(), undefined);
    t.is((await world.deps.db('daily_counters').where({ scope: 'campaign', scope_id: id }).first()).count, 0);
  }
  const before = await epoch();
  const send = await reserve(desk, id, contacts[0]!);
  await desk.call('PATCH', `/campaigns/${id}`, { name: 'Renamed', days: 127 });
  t.is(await epoch(), before);
  t.truthy(await world.deps.db('sends').where({ id: send }).first());
});

test('an explicit pool that empties pauses the campaign and never widens', async (t) => {
  const desk = await openDesk(world);
  const {
    campaign: { id },
  } = await desk.ready(1);
  const [chosen, tagged, off] = [await desk.mailbox(), await desk.mailbox(), await desk.mailbox()];
  const tag = await desk.label('tag');
  const { db } = world.deps;
  for (const mailbox of [tagged, off])
    await db('mailbox_tags').insert({
      organization_id: desk.tenant.organizationId,
      mailbox_id: mailbox,
      label_id: tag,
    });
  const pool = async () =>
    (await resolveSenders(reader(ctxOf(desk)), await desk.row(id))).map((member) => member.mailboxId).sort();
  t.is((await pool()).length, 4);
  await desk.call('PATCH', `/campaigns/${id}`, { email_tags: [tag] });
  t.deepEqual(await pool(), [tagged, off].sort());
  await desk.call('PUT', `/campaigns/${id}/senders`, {
    senders: [{ email_account_id: chosen }, { email_account_id: off, enabled: false }],
  });
  t.deepEqual(await pool(), [chosen, tagged].sort());
  await desk.call('PATCH', `/campaigns/${id}`, { sender_strategy: 'explicit' });
  t.deepEqual(await pool(), [chosen, tagged].sort());
  await db('mailboxes').where({ id: chosen }).update({ hold_code: 'auth', hold_until: null });
  t.deepEqual(await pool(), [tagged]);
  await start(desk, id);
  await desk.call('PATCH', `/campaigns/${id}`, { email_tags: [] });
  t.like(await desk.row(id), { status: 'paused_no_accounts' });
  t.deepEqual(await pool(), []);
  t.is((await start(desk, id)).body.code, 'campaign_no_mailbox');
});

test('deleting a running campaign takes its own and leaves the rest; its runs are cancelled in bulk', async (t) => {
  const desk = await openDesk(world);
  const {
    campaign: { id },
    contacts,
  } = await desk.ready(3, { variants: [{ name: 'B' }] });
  await start(desk, id);
  const { db } = world.deps;
  const reserved = await reserve(desk, id, contacts[0]!);
  const sent = await reserve(desk, id, contacts[1]!);
  await db('sends').where({ id: sent }).update({ state: 'sent' });
  await db('tracked_links').insert({
    id: newId(),
    organization_id: desk.tenant.organizationId,
    send_id: sent,
    campaign_id: id,
    url: 'https://x.example',
    position: 0,
    created_at: new Date(),
  });
  t.is((await desk.call('DELETE', `/campaigns/${id}`)).status, 204);
  t.is((await desk.call('GET', `/campaigns/${id}`)).status, 404);
  for (const table of ['campaign_steps', 'campaign_variants', 'campaign_logs', 'enrollments', 'campaign_senders']) {
    t.deepEqual(await db(table).where({ campaign_id: id }), [], table);
  }
  t.deepEqual(await db('daily_counters').where({ scope_id: id }), []);
  t.is(await db('sends').where({ id: reserved }).first(), undefined);
  t.like(await db('sends').where({ id: sent }).first(), { state: 'sent', campaign_id: null, enrollment_id: null });
  t.is((await db('tracked_links').where({ send_id: sent })).length, 1);
  t.is((await db('contacts').whereIn('id', contacts)).length, 3);
  const cancels = [...(await desk.outbox(`enrollment/${id}`)), ...(await desk.outbox(`campaign/${id}`))]
    .filter(({ kind }) => kind === 'cancel')
    .map((intent) => intent.workflow_id);
  t.deepEqual(
    cancels.sort(),
    [`campaign/${id}`, ...contacts.slice(0, 2).map((contact) => `enrollment/${id}/${contact}`)].sort(),
  );
  t.is((await desk.events()).at(-1), 'campaign.deleted');
});

test('leads are added by id and segment, each once; unknown ids are listed; the list pages and filters', async (t) => {
  const desk = await openDesk(world);
  const {
    campaign: { id },
    contacts,
  } = await desk.ready(3);
  const path = `/campaigns/${id}/leads`;
  t.deepEqual((await desk.call('POST', path, { contact_ids: contacts, segment_ids: [await desk.segment()] })).body, {
    added: 0,
    already: 6,
  });
  const other = await openDesk(world);
  const refused = await desk.call('POST', path, {
    contact_ids: [contacts[0], await other.contact(), 'x'],
    segment_ids: [await other.segment()],
  });
  t.deepEqual(problemPaths(refused), ['body.contact_ids.1', 'body.contact_ids.2', 'body.segment_ids.0']);
  t.is((await desk.call('POST', path, {})).status, 400);

  const first = (await desk.call('GET', `${path}?limit=2`)).body;
  t.deepEqual(
    first.data.map((lead: any) => lead.contact_id),
    contacts.toReversed().slice(0, 2),
  );
  t.like(first.data[0], { status: 'pending', hold: null, current_step: null });
  t.is(typeof first.data[0].contact.email, 'string');
  const rest = (await desk.call('GET', `${path}?limit=2&cursor=${first.pagination.next_cursor}`)).body;
  t.deepEqual(
    rest.data.map((lead: any) => lead.contact_id),
    [contacts[0]],
  );
  t.is((await desk.call('GET', `${path}?status=active&cursor=${first.pagination.next_cursor}`)).status, 400);
  t.is((await desk.call('GET', `${path}?status=happy`)).status, 400);
  await desk.call('POST', `${path}/${contacts[1]}/pause`, {});
  t.deepEqual(
    (await desk.call('GET', `${path}?status=paused`)).body.data.map((lead: any) => lead.contact_id),
    [contacts[1]],
  );
  t.is((await desk.call('GET', `${path}?status=pending`)).body.data.length, 2);

  const blind = await createApiKey(world.deps, desk.tenant.organizationId, desk.tenant.userId, {
    permissions: maskOf(['READ_CAMPAIGNS']),
  });
  t.is((await desk.call('GET', path, undefined, blind.apiKey)).body.data[0].contact, null);
  t.is((await desk.call('DELETE', `${path}/${contacts[1]}`)).status, 204);
  t.is((await desk.call('DELETE', `${path}/${contacts[1]}`)).status, 404);
  t.is((await desk.call('GET', path)).body.data.length, 2);
});

test('a hold begins, is repeated, ends by time and by resume; its run is signalled and its slot released', async (t) => {
  const clock = new ManualClock();
  const timed = await createWorld({ clock });
  try {
    const desk = await openDesk(timed);
    const {
      campaign: { id },
      contacts,
    } = await desk.ready(1);
    const path = `/campaigns/${id}/leads/${contacts[0]}`;
    const inDays = (days: number) => new Date(clock.now().getTime() + days * DAY_MS).toISOString();
    const pause = (body: object) => desk.call('POST', `${path}/pause`, body);
    t.is((await desk.call('GET', `${path}/hold`)).body.hold, null);
    const since = clock.now().toISOString();
    t.deepEqual((await pause({})).body, {
      campaign_id: id,
      contact_id: contacts[0],
      hold: { since, until: null, reason: '', source: 'manual' },
    });
    clock.advance(1000);
    const until = inDays(3);
    t.deepEqual((await pause({ until, reason: 'On leave' })).body.hold, {
      since,
      until,
      reason: 'On leave',
      source: 'manual',
    });
    t.deepEqual((await desk.call('GET', `${path}/hold`)).body.hold.until, until);
    for (const bad of [inDays(-1), inDays(367)]) t.deepEqual(problemPaths(await pause({ until: bad })), ['body.until']);
    t.is((await pause({ reason: 'x'.repeat(201) })).status, 400);
    t.deepEqual(await desk.outbox('enrollment/'), []);

    clock.advance(4 * DAY_MS);
    t.is((await desk.call('GET', `${path}/hold`)).body.hold, null);
    const again = (await pause({})).body.hold;
    t.is(again.since, clock.now().toISOString());
    await timed.deps.db('enrollments').where({ campaign_id: id }).update({ launched_at: clock.now(), state: 'active' });
    t.is((await desk.call('POST', `${path}/resume`)).body.hold, null);
    t.is((await desk.call('POST', `${path}/resume`)).status, 200);
    t.deepEqual(await desk.outbox('enrollment/'), [{ kind: 'signal', workflow_id: `enrollment/${id}/${contacts[0]}` }]);

    await timed.deps.db('enrollments').where({ campaign_id: id }).update({ state: 'completed' });
    t.is((await pause({})).status, 400);
    t.is((await desk.call('GET', `/campaigns/${id}/leads/${newId()}/hold`)).status, 404);
  } finally {
    await timed.close();
  }
});

test("the day's new campaigns are counted with duplicates, exactly, and the next day begins anew", async (t) => {
  const clock = new ManualClock(new Date('2030-03-01T22:00:00Z'));
  const limited = await createWorld({ clock, env: { ORG_CAMPAIGNS_PER_DAY: '3' } });
  try {
    const desk = await openDesk(limited);
    const { id } = await desk.campaign();
    const answers = await Promise.all(
      [1, 2, 3, 4, 5, 6].map((n) =>
        n % 2 ? desk.call('POST', '/campaigns', { name: 'x' }) : desk.call('POST', `/campaigns/${id}/duplicate`),
      ),
    );
    t.deepEqual(answers.map((answer) => answer.status).sort(), [201, 201, 429, 429, 429, 429]);
    const refused = answers.find((answer) => answer.status === 429)!;
    t.like(refused.body, { code: 'rate_limit_exceeded', retry_after: 7200 });
    t.is(refused.headers.get('retry-after'), '7200');
    clock.advance(2 * 3_600_000);
    t.is((await desk.call('POST', '/campaigns', { name: 'x' })).status, 201);
  } finally {
    await limited.close();
  }
});

test('pauses of the engine take an active campaign only', async (t) => {
  const desk = await openDesk(world);
  const {
    campaign: { id },
  } = await desk.ready(1);
  const pause = () => transact(ctxOf(desk), (tx) => pauseCampaign(tx, id, 'paused', externalText('Too many bounces')));
  t.false(await pause());
  await start(desk, id);
  t.true(await pause());
  t.false(await pause());
  t.like(await world.deps.db('campaign_logs').where({ campaign_id: id }).orderBy('id', 'desc').first(), {
    event_type: 'campaign_paused',
    message: externalText('Too many bounces'),
  });
});

test('an estimate leaves the warmup of coming days its part of the caps', async (t) => {
  const desk = await openDesk(world);
  const segment = await desk.segment();
  for (let n = 0; n < 20; n += 1) await desk.contact();
  const id = await desk.mailbox({
    campaign_limit: 10,
    warmup_base: 4,
    warmup_max: 6,
    warmup_increase: 1,
    imap: JSON.stringify({ host: '127.0.0.1', port: 1, username: 'x', security: 'none' }),
  });
  const finish = async () => {
    const start_date = new Date(Math.ceil(Date.now() / DAY_MS) * DAY_MS + DAY_MS).toISOString();
    const body = { segment_ids: [segment], daily_limit: 50, days: 127, start_date };
    return (await desk.call('POST', '/campaigns-estimate', body)).body;
  };
  t.is((await finish()).sending_days, 2, 'ten a day');
  const started = await desk.call('POST', `/emails/${id}/warmup/start`, {});
  t.is(started.status, 200, started.text);
  // Warmup uses at most half of the daily cap: five emails a day, from the second day of its ramp-up.
  t.like(await finish(), { sending_days: 4, daily_capacity: 10 });
  t.is((await desk.call('POST', `/emails/${id}/warmup/pause`, {})).status, 200);
  t.is((await finish()).sending_days, 2, 'none while it is paused');
});
