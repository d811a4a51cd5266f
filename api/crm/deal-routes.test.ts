import test from 'ava';
import {
  createCampaign,
  createContact,
  createMailbox,
  createMember,
  type Tenant,
} from '../../test/harness/factories.ts';
import { assertConcurrentChangeRefused } from '../../test/harness/concurrent-change.ts';
import { createPipeline } from '../../test/harness/crm.ts';
import { ManualClock } from '../../test/harness/manual-clock.ts';
import { assertStatus, call, createWorld, type World } from '../../test/harness/world.ts';
import { newId } from '../../lib/ids.ts';

const NOW = new Date('2026-11-22T10:00:00Z');
const clock = new ManualClock(NOW);
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
});
test.beforeEach(() => clock.set(NOW));
test.after.always(() => world?.close());

type Api = (method: string, path: string, body?: unknown) => ReturnType<typeof call>;
const apiOf =
  (tenant: Tenant): Api =>
  (method, path, body) =>
    call(world, method, `/v1${path}`, { token: tenant.apiKey, ...(body === undefined ? {} : { body }) });

async function scene() {
  const tenant = await world.tenant();
  const api = apiOf(tenant);
  const { id: pipelineId, stageIds } = await createPipeline(world, tenant);
  const contactId = await createContact(world.deps.db, clock.now(), tenant.organizationId);
  const deal = async (fields: object = {}) => {
    const made = await api('POST', '/crm/deals', {
      pipeline_id: pipelineId,
      stage_id: stageIds[0],
      name: 'Deal',
      ...fields,
    });
    if (made.status !== 201) throw new Error(made.text);
    return made.body;
  };
  const events = async (type: string) =>
    (await world.deps.db('domain_events').where({ organization_id: tenant.organizationId, type }).orderBy('id')).map(
      ({ data }) => data,
    );
  return { tenant, api, pipelineId, stageIds, contactId, deal, events };
}
const problemPaths = ({ body }: { body: any }): string[] =>
  body.problems.map(({ path }: { path: string }) => path).sort();

test.serial(
  'pipelines are a bare array in their order, with ordered stages and the number of deals in each',
  async (t) => {
    const { api, pipelineId, stageIds, deal } = await scene();
    await deal();
    await deal({ stage_id: stageIds[2] });
    await deal({ stage_id: stageIds[2] });
    const second = await api('POST', '/crm/pipelines', { name: 'Partners' });
    assertStatus(t, second, 201);
    t.like(second.body, { name: 'Partners', position: 2, stages: [] });
    const { status, body } = await api('GET', '/crm/pipelines');
    t.is(status, 200);
    t.deepEqual(
      body.map(({ id }: { id: string }) => id),
      [pipelineId, second.body.id],
    );
    t.deepEqual(
      body[0].stages.map(({ name, position, deal_count }: Record<string, unknown>) => [name, position, deal_count]),
      [
        ['New', 1, 1],
        ['Talking', 2, 0],
        ['Closing', 3, 2],
      ],
    );
    t.deepEqual((await api('GET', `/crm/pipelines/${pipelineId}`)).body, body[0]);
    t.is((await api('PATCH', `/crm/pipelines/${pipelineId}`, { name: 'New business' })).body.name, 'New business');
  },
);

test.serial('names and colours are checked, each fault named', async (t) => {
  const { api, pipelineId, stageIds } = await scene();
  const long = 'x'.repeat(256);
  const stages = [{ name: '', color: 'red' }, { name: 'A' }];
  t.deepEqual(problemPaths(await api('POST', '/crm/pipelines', { name: long, stages })), [
    'body.name',
    'body.stages.0.color',
    'body.stages.0.name',
    'body.stages.1.color',
  ]);
  t.deepEqual(problemPaths(await api('POST', `/crm/pipelines/${pipelineId}/stages`, {})), ['body.color', 'body.name']);
  t.deepEqual(
    problemPaths(
      await api('PATCH', `/crm/pipelines/${pipelineId}/stages/${stageIds[0]}`, { color: '#12', position: 0 }),
    ),
    ['body.color', 'body.position'],
  );
  assertStatus(t, await api('POST', '/crm/pipelines', { name: 'x'.repeat(255) }), 201);
});

test.serial('stages are appended, changed, moved and deleted; positions have no gaps', async (t) => {
  const { api, pipelineId, stageIds } = await scene();
  const appended = await api('POST', `/crm/pipelines/${pipelineId}/stages`, { name: 'Won', color: '#16A34A' });
  assertStatus(t, appended, 201);
  t.like(appended.body, { name: 'Won', color: '#16a34a', position: 4, pipeline_id: pipelineId });
  const order = async () =>
    (await api('GET', `/crm/pipelines/${pipelineId}`)).body.stages.map(
      ({ name, position }: { name: string; position: number }) => `${position} ${name}`,
    );
  t.like((await api('PATCH', `/crm/pipelines/${pipelineId}/stages/${appended.body.id}`, { position: 2 })).body, {
    position: 2,
  });
  t.deepEqual(await order(), ['1 New', '2 Won', '3 Talking', '4 Closing']);
  await api('PATCH', `/crm/pipelines/${pipelineId}/stages/${stageIds[0]}`, { position: 99, name: 'Fresh' });
  t.deepEqual(await order(), ['1 Won', '2 Talking', '3 Closing', '4 Fresh']);
  assertStatus(t, await api('DELETE', `/crm/pipelines/${pipelineId}/stages/${stageIds[1]}`), 204);
  t.deepEqual(await order(), ['1 Won', '2 Closing', '3 Fresh']);
  const other = await createPipeline(world, (await scene()).tenant);
  assertStatus(t, await api('PATCH', `/crm/pipelines/${pipelineId}/stages/${other.stageIds[0]}`, { name: 'x' }), 404);
});

test.serial('what deals stand in is not deleted; an empty pipeline goes with its stages', async (t) => {
  const { api, pipelineId, stageIds, deal } = await scene();
  const { id } = await deal();
  t.is((await api('DELETE', `/crm/pipelines/${pipelineId}/stages/${stageIds[0]}`)).body.code, 'conflict');
  assertStatus(t, await api('DELETE', `/crm/pipelines/${pipelineId}`), 409);
  assertStatus(t, await api('DELETE', `/crm/deals/${id}`), 204);
  assertStatus(t, await api('DELETE', `/crm/pipelines/${pipelineId}`), 204);
  assertStatus(t, await api('GET', `/crm/pipelines/${pipelineId}`), 404);
  t.is((await world.deps.db('crm_stages').where({ pipeline_id: pipelineId })).length, 0);
});

test.serial('a new deal is open; its amount is kept to the digit', async (t) => {
  const { tenant, api, pipelineId, stageIds, contactId, events } = await scene();
  const mailbox = await createMailbox(world.deps, tenant.organizationId, 'a@b.test');
  const { campaignId } = await createCampaign(world.deps, tenant.organizationId, [{ subject: 'Hi' }]);
  const sent = {
    pipeline_id: pipelineId,
    stage_id: stageIds[1],
    contact_id: contactId,
    name: 'Big one',
    value: 1234.57,
    currency: 'eur',
    expected_close_date: '2026-12-24T00:00:00Z',
    assigned_to: tenant.userId,
    campaign_id: campaignId,
    source_mailbox_id: mailbox,
  };
  const { status, body } = await api('POST', '/crm/deals', sent);
  t.is(status, 201);
  t.like(body, {
    ...sent,
    currency: 'EUR',
    expected_close_date: '2026-12-24T00:00:00.000Z',
    status: 'open',
    won_at: null,
    lost_at: null,
    lost_reason: null,
  });
  t.is((await world.deps.db('crm_deals').where({ id: body.id }).first()).value_minor, 123_457);
  t.deepEqual((await api('GET', `/crm/deals/${body.id}`)).body, body);
  t.like((await events('crm.deal_created'))[0], {
    entity_id: body.id,
    value: 1234.57,
    currency: 'EUR',
    contact_id: contactId,
  });
  const [found] = (await api('GET', '/crm/deals')).body.data;
  t.like(found, { id: body.id, campaign_name: 'Spring', stage: { id: stageIds[1], name: 'Talking' } });
  t.is(found.contact.id, contactId);
  t.deepEqual((await api('GET', `/contacts/${contactId}/deals`)).body, [body]);
  const bare = await api('POST', '/crm/deals', { pipeline_id: pipelineId, stage_id: stageIds[0], name: 'Bare' });
  t.like(bare.body, { value: null, currency: 'USD', contact_id: null });
});

test.serial('an amount that its currency cannot hold is refused, never rounded', async (t) => {
  const { api, pipelineId, stageIds, deal } = await scene();
  const create = (fields: object) =>
    api('POST', '/crm/deals', { pipeline_id: pipelineId, stage_id: stageIds[0], name: 'Deal', ...fields });
  t.deepEqual(problemPaths(await create({ value: 19.999 })), ['body.value']);
  t.deepEqual(problemPaths(await create({ value: 0.5, currency: 'JPY' })), ['body.value']);
  t.deepEqual(problemPaths(await create({ value: -1 })), ['body.value']);
  t.deepEqual(problemPaths(await create({ value: 1e15, currency: 'ABC' })), ['body.currency', 'body.value']);
  t.is((await create({ value: 1.234, currency: 'KWD' })).body.value, 1.234);
  t.is((await create({ value: 1e12 })).body.value, 1e12);
  const { id } = await deal({ value: 10.5 });
  t.deepEqual(problemPaths(await api('PATCH', `/crm/deals/${id}`, { currency: 'JPY' })), ['body.currency']);
  t.deepEqual(problemPaths(await api('PATCH', `/crm/deals/${id}`, { value: 1.005 })), ['body.value']);
  t.like((await api('PATCH', `/crm/deals/${id}`, { currency: 'JPY', value: 11 })).body, { currency: 'JPY', value: 11 });
  t.like((await api('PATCH', `/crm/deals/${id}`, { value: null })).body, { currency: 'JPY', value: null });
});

test.serial(
  'ids of nothing, and of another workspace, are named each; with faults of form in one answer',
  async (t) => {
    const { api, pipelineId, stageIds, deal } = await scene();
    const theirs = await scene();
    const named = {
      contact_id: theirs.contactId,
      assigned_to: theirs.tenant.userId,
      campaign_id: newId(),
      source_mailbox_id: newId(),
    };
    const paths = ['body.assigned_to', 'body.campaign_id', 'body.contact_id', 'body.source_mailbox_id'];
    const good = { pipeline_id: pipelineId, stage_id: stageIds[0], name: 'Deal' };
    t.deepEqual(problemPaths(await api('POST', '/crm/deals', { ...good, ...named })), paths);
    t.deepEqual(problemPaths(await api('POST', '/crm/deals', { ...good, ...named, value: 'much', name: '' })), [
      ...paths.slice(0, 3),
      'body.name',
      ...paths.slice(3),
      'body.value',
    ]);
    t.deepEqual(
      problemPaths(
        await api('POST', '/crm/deals', { pipeline_id: theirs.pipelineId, stage_id: theirs.stageIds[0], name: 'x' }),
      ),
      ['body.pipeline_id', 'body.stage_id'],
    );
    const other = await createPipeline(world, theirs.tenant);
    const mine = (await api('POST', '/crm/pipelines', { name: 'B', stages: [{ name: 'S', color: '#000000' }] })).body;
    t.deepEqual(problemPaths(await api('POST', '/crm/deals', { ...good, stage_id: mine.stages[0].id })), [
      'body.stage_id',
    ]);
    const { id } = await deal();
    t.deepEqual(
      problemPaths(
        await api('PATCH', `/crm/deals/${id}`, { stage_id: mine.stages[0].id, contact_id: theirs.contactId }),
      ),
      ['body.contact_id', 'body.stage_id'],
    );
    t.deepEqual(problemPaths(await api('PATCH', `/crm/deals/${id}`, { stage_id: other.stageIds[0] })), [
      'body.stage_id',
    ]);
  },
);

test.serial('of two changes of a deal that name the state they have read, the second is refused', async (t) => {
  const { api, deal } = await scene();
  const { id, updated_at: seen } = await deal();
  clock.advance(1_000);
  await assertConcurrentChangeRefused(t, seen, (more, attempt) =>
    api('PATCH', `/crm/deals/${id}`, { name: `Name ${attempt}`, ...more }),
  );
});

test.serial('won and lost stamp when, once; open again has no stamp; stage changes stand in the log', async (t) => {
  const { api, stageIds, contactId, deal, events } = await scene();
  const { id } = await deal({ contact_id: contactId });
  const patch = async (body: object) => {
    clock.advance(60_000);
    return (await api('PATCH', `/crm/deals/${id}`, body)).body;
  };
  t.like(await patch({ status: 'won' }), { status: 'won', won_at: '2026-11-22T10:01:00.000Z', lost_at: null });
  t.like(await patch({ status: 'won', name: 'Named' }), { won_at: '2026-11-22T10:01:00.000Z', name: 'Named' });
  t.like(await patch({ status: 'lost', lost_reason: 'price' }), {
    won_at: null,
    lost_at: '2026-11-22T10:03:00.000Z',
    lost_reason: 'price',
  });
  t.like(await patch({ status: 'open' }), { won_at: null, lost_at: null, lost_reason: null });
  t.like(await patch({ stage_id: stageIds[2] }), { stage_id: stageIds[2] });
  const updates = (await events('crm.deal_updated')).length;
  await patch({ stage_id: stageIds[2], name: 'Named' });
  t.is((await events('crm.deal_updated')).length, updates, 'nothing changed');
  t.like((await events('crm.deal_updated')).at(-1), {
    entity_id: id,
    fields: ['stage_id'],
    previous_stage_id: stageIds[0],
  });
  const log = (await api('GET', `/contacts/${contactId}/activities`)).body.data;
  t.deepEqual(
    log.map(({ activity_type: type }: { activity_type: string }) => type),
    ['deal_stage_changed', 'deal_lost', 'deal_won', 'deal_created'],
  );
  t.like(log[0].metadata, { deal_id: id, from_stage_id: stageIds[0], to_stage_id: stageIds[2] });
  const audits = await world.deps.db('audit_logs').where({ entity_id: id, action: 'update' });
  t.is(audits.length, updates);
});

test.serial('lists page by keyset, each deal once; filters hold; a cursor belongs to its list', async (t) => {
  const { api, pipelineId, stageIds, deal } = await scene();
  const ids: string[] = [];
  for (let n = 0; n < 7; n += 1) ids.push((await deal({ stage_id: stageIds[n % 2] })).id);
  await api('PATCH', `/crm/deals/${ids[3]}`, { status: 'won' });
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { body } = await api(
      'GET',
      `/crm/deals?limit=3&pipeline_id=${pipelineId}${cursor ? `&cursor=${cursor}` : ''}`,
    );
    seen.push(...body.data.map(({ id }: { id: string }) => id));
    t.is(body.pagination.total, null);
    if (seen.length === 3)
      assertStatus(t, await api('GET', `/crm/deals?limit=3&cursor=${body.pagination.next_cursor}`), 400);
    cursor = body.pagination.next_cursor;
  }
  t.deepEqual(seen, [...ids].reverse());
  t.is((await api('GET', `/crm/deals?status=won&stage_id=${stageIds[1]}`)).body.data[0].id, ids[3]);
  assertStatus(t, await api('GET', '/crm/deals?limit=101'), 400);
  assertStatus(t, await api('GET', '/crm/deals?status=closed'), 400);
});

test.serial(
  'the search pages under an opaque cursor with the exact total, in every order, also while deals are added',
  async (t) => {
    const { api, deal } = await scene();
    const values = [30, null, 10.5, 10.5, 1000, 0];
    const currencies = ['USD', 'USD', 'EUR', 'KWD', 'JPY', 'USD'];
    const ids: string[] = [];
    for (const [n, value] of values.entries()) {
      clock.advance(1000);
      const close = n === 4 ? {} : { expected_close_date: `2026-12-0${n + 1}T00:00:00Z` };
      ids.push(
        (
          await deal({
            name: `${'bAcDfE'[n]} deal`,
            ...(value === null ? {} : { value }),
            currency: currencies[n],
            ...close,
          })
        ).id,
      );
    }
    const walk = async (search: object) => {
      const seen: number[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const { status, body } = await api(
          'POST',
          `/crm/deals/search?limit=2${cursor ? `&cursor=${cursor}` : ''}`,
          search,
        );
        if (status !== 200) throw new Error(JSON.stringify(body));
        t.is(body.pagination.total, 6);
        seen.push(...body.data.map(({ id }: { id: string }) => ids.indexOf(id)));
        cursor = body.pagination.next_cursor;
        t.is(body.pagination.has_more, cursor !== null);
      }
      return seen;
    };
    t.deepEqual(await walk({}), [5, 4, 3, 2, 1, 0]);
    t.deepEqual(await walk({ sort_by: 'created_at', reverse: true }), [0, 1, 2, 3, 4, 5]);
    t.deepEqual(await walk({ sort_by: 'value' }), [4, 0, 3, 2, 5, 1]);
    t.deepEqual(await walk({ sort_by: 'value', reverse: true }), [1, 5, 2, 3, 0, 4]);
    t.deepEqual(await walk({ sort_by: 'expected_close_date' }), [5, 3, 2, 1, 0, 4]);
    t.deepEqual(await walk({ sort_by: 'name', reverse: true }), [1, 0, 2, 3, 5, 4]);
    t.deepEqual(await walk({ sort_by: 'updated_at' }), [5, 4, 3, 2, 1, 0]);
    const first = (await api('POST', '/crm/deals/search?limit=2', { sort_by: 'value' })).body.pagination.next_cursor;
    assertStatus(t, await api('POST', `/crm/deals/search?limit=2&cursor=${first}`, { sort_by: 'name' }), 400);
    t.is(
      (await api('POST', `/crm/deals/search?limit=2&cursor=${first}`, { sort_by: 'value', statuses: ['won'] })).status,
      400,
    );
    assertStatus(t, await api('POST', '/crm/deals/search?limit=201', {}), 400);
    await deal({ value: 5000 });
    const next = (await api('POST', `/crm/deals/search?limit=2&cursor=${first}`, { sort_by: 'value' })).body;
    t.is(next.pagination.total, 7);
    t.deepEqual(
      next.data.map(({ id }: { id: string }) => ids.indexOf(id)),
      [3, 2],
    );
  },
);

test.serial('every filter of the search and of the summary, bounds included', async (t) => {
  const { tenant, api, pipelineId, stageIds, deal } = await scene();
  const { campaignId } = await createCampaign(world.deps, tenant.organizationId, [{ subject: 'Hi' }]);
  const at = (minutes: number) => new Date(NOW.getTime() + minutes * 60_000).toISOString();
  clock.advance(60_000);
  const a = await deal({ name: '50% off_er', value: 10, assigned_to: tenant.userId, expected_close_date: at(10) });
  clock.advance(60_000);
  const b = await deal({ name: 'ACME renewal', value: 20.01, stage_id: stageIds[1], campaign_id: campaignId });
  clock.advance(60_000);
  const c = await deal({ name: 'acme new', expected_close_date: at(20) });
  await api('PATCH', `/crm/deals/${b.id}`, { status: 'won' });
  const names: Record<string, string> = { [a.id]: 'a', [b.id]: 'b', [c.id]: 'c' };
  const found = async (filters: object) => {
    const { body } = await api('POST', '/crm/deals/search', { ...filters, sort_by: 'created_at', reverse: true });
    const summary = (await api('POST', '/crm/deals/summary', filters)).body;
    t.is(body.pagination.total, body.data.length);
    t.is(summary.total, body.data.length, JSON.stringify(filters));
    return body.data.map(({ id }: { id: string }) => names[id]).join('');
  };
  t.is(await found({}), 'abc');
  t.is(await found({ query: 'ACME' }), 'bc');
  t.is(await found({ query: '0% off_' }), 'a');
  t.is(await found({ query: '%' }), 'a');
  t.is(await found({ statuses: ['won', 'lost'] }), 'b');
  t.is(await found({ statuses: [] }), 'abc');
  t.is(await found({ pipeline_ids: [pipelineId], stage_ids: [stageIds[0], stageIds[2]] }), 'ac');
  t.is(await found({ pipeline_ids: [newId()] }), '');
  t.is(await found({ assigned_to: [tenant.userId] }), 'a');
  t.is(await found({ campaign_ids: [campaignId] }), 'b');
  t.is(await found({ min_value: 10, max_value: 20.01 }), 'ab');
  t.is(await found({ min_value: 10.01 }), 'b');
  t.is(await found({ max_value: 20 }), 'a');
  t.is(await found({ min_value: -5 }), 'ab');
  t.is(await found({ close_after: at(10), close_before: at(20) }), 'ac');
  t.is(await found({ close_before: at(19) }), 'a');
  t.is(await found({ created_after: at(2), created_before: at(3) }), 'bc');
  t.deepEqual(
    problemPaths(
      await api('POST', '/crm/deals/search', { statuses: ['x'], stage_ids: ['y'], min_value: 'z', sort_by: 'w' }),
    ),
    ['body.min_value', 'body.sort_by', 'body.stage_ids.0', 'body.statuses.0'],
  );
});

test.serial('the summary adds values exactly, by state and stage, and says when currencies are mixed', async (t) => {
  const { api, stageIds, deal } = await scene();
  t.deepEqual((await api('POST', '/crm/deals/summary', {})).body, {
    total: 0,
    open_count: 0,
    open_value: 0,
    won_count: 0,
    won_value: 0,
    lost_count: 0,
    lost_value: 0,
    currency: 'USD',
    stages: [],
    mixed_currency: false,
  });
  for (let n = 0; n < 3; n += 1) await deal({ value: 0.1 });
  const won = await deal({ value: 7.2, stage_id: stageIds[1] });
  await api('PATCH', `/crm/deals/${won.id}`, { status: 'won' });
  await deal({ stage_id: stageIds[1] });
  const { body } = await api('POST', '/crm/deals/summary', {});
  t.like(body, {
    total: 5,
    open_count: 4,
    open_value: 0.3,
    won_count: 1,
    won_value: 7.2,
    lost_count: 0,
    currency: 'USD',
    mixed_currency: false,
  });
  t.deepEqual(
    body.stages.sort((a: any, b: any) => a.count - b.count),
    [
      { stage_id: stageIds[1], count: 2, value: 0 },
      { stage_id: stageIds[0], count: 3, value: 0.3 },
    ],
  );
  t.deepEqual(
    { ...(await api('POST', '/crm/deals/summary', { created_after: '2000-01-01T00:00:00Z' })).body, stages: 0 },
    { ...body, stages: 0 },
  );
  await deal({ value: 1, currency: 'JPY' });
  t.like((await api('POST', '/crm/deals/summary', {})).body, {
    mixed_currency: true,
    open_value: 1.3,
    currency: 'USD',
  });
  const empty = await api('POST', '/crm/deals/summary', { stage_ids: [stageIds[1]], statuses: ['open'] });
  t.like(empty.body, { open_count: 1, open_value: 0, currency: 'USD', mixed_currency: false });
  await deal({ value: 5, currency: 'JPY', stage_id: stageIds[1] });
  await deal({ stage_id: stageIds[1] });
  for (const more of [{}, { created_after: '2000-01-01T00:00:00Z' }])
    t.like(
      (await api('POST', '/crm/deals/summary', { stage_ids: [stageIds[1]], statuses: ['open'], ...more })).body,
      { open_count: 3, open_value: 5, currency: 'JPY', mixed_currency: false },
      'deals without a value add nothing, in whatever currency',
    );
});

test.serial(
  'a deal outlives its contact, campaign, mailbox and assignee; the log goes with the contact; with the workspace all goes',
  async (t) => {
    const { tenant, api, contactId, deal } = await scene();
    const mailbox = await createMailbox(world.deps, tenant.organizationId, 'c@b.test');
    const { campaignId } = await createCampaign(world.deps, tenant.organizationId, [{ subject: 'Hi' }]);
    const member = await createMember(world.deps, tenant, 'Member');
    const { id } = await deal({
      contact_id: contactId,
      campaign_id: campaignId,
      source_mailbox_id: mailbox,
      assigned_to: member.userId,
      value: 5,
    });
    const { body: task } = await api('POST', '/crm/tasks', {
      title: 'Call',
      contact_id: contactId,
      deal_id: id,
      assigned_to: member.userId,
    });
    assertStatus(t, await api('DELETE', `/contacts/${contactId}`), 204);
    await world.deps.db('campaigns').where({ id: campaignId }).update({ status: 'draft' });
    assertStatus(t, await api('DELETE', `/campaigns/${campaignId}`), 204);
    await world.deps.db('mailboxes').where({ id: mailbox }).delete();
    await world.deps.db('memberships').where({ user_id: member.userId }).delete();
    t.like((await api('GET', `/crm/deals/${id}`)).body, {
      contact_id: null,
      campaign_id: null,
      source_mailbox_id: null,
      assigned_to: null,
      value: 5,
    });
    t.like((await api('GET', `/crm/tasks/${task.id}`)).body, { contact_id: null, deal_id: id, assigned_to: null });
    t.is((await world.deps.db('crm_activities').where({ organization_id: tenant.organizationId })).length, 0);
    t.is((await api('POST', '/crm/deals/search', { assigned_to: [member.userId] })).body.pagination.total, 0);
    t.is((await api('POST', '/crm/deals/search', {})).body.pagination.total, 1);
    assertStatus(t, await api('DELETE', `/crm/deals/${id}`), 204);
    t.is((await api('GET', `/crm/tasks/${task.id}`)).body.deal_id, null);
    await deal();
    await world.deps.db('organizations').where({ id: tenant.organizationId }).delete();
    t.is((await world.deps.db('crm_deals').where({ organization_id: tenant.organizationId })).length, 0);
    t.is((await world.deps.db('crm_deal_counts').where({ organization_id: tenant.organizationId })).length, 0);
  },
);
