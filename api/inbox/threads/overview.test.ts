import test from 'ava';
import { foldCountChanges } from '../../../domain/inbox/threads/counts.ts';
import { newId } from '../../../lib/ids.ts';
import { seeded } from '../../../test/faults/random.ts';
import { createApiKey, createMailbox } from '../../../test/harness/factories.ts';
import { replyTo } from '../../../test/harness/inbound.ts';
import { openCampaignInbox } from '../../../test/harness/inbox-desk.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

test('the overview counts what a plain count of the conversations finds, whatever is done to them in whatever order', async (t) => {
  const { mailed, receive, tenant, mailboxId, email } = await openCampaignInbox(world);
  const { db } = world.deps;
  const { organizationId } = tenant;
  const patch = (path: string, body: object) =>
    call(world, 'PATCH', `/v1/unibox${path}`, { token: tenant.sessionToken, body });
  const leads = await Promise.all(['a', 'b', 'c', 'd'].map((name) => mailed(`${name}@lead.test`)));
  const second = {
    id: await createMailbox(world.deps, organizationId, 'two@ours.test'),
    email: 'two@ours.test',
  };
  const labels = [0, 1, 2].map((position) => ({
    id: newId(),
    organization_id: organizationId,
    registry: 'category' as const,
    title: `Category ${position}`,
    color: '#16a34a',
    position,
    created_at: new Date(),
    updated_at: new Date(),
  }));
  await db('labels').insert(labels);
  const random = seeded(20_261_123);
  const pick = (count: number) => Math.floor(random.between(0, count));
  const some = <T>(all: readonly T[]) => all.filter(() => random.next() < 0.4);
  const { apiKey: restricted } = await createApiKey(world.deps, organizationId, tenant.userId, {
    allowedMailboxes: [second.id],
  });
  const acts: (() => Promise<unknown>)[] = [
    // Records two received messages concurrently, with times in the last three weeks.
    () =>
      Promise.all(
        [0, 1].map(() =>
          receive(
            replyTo(leads[pick(4)]!.original, `Words ${random.next()}`),
            pick(2) ? second : { id: mailboxId, email },
            new Date(world.deps.clock.now().getTime() - pick(21 * 24) * 3_600_000),
          ),
        ),
      ),
    async () => patch('/seen', { email_ids: (await messages()).concat(newId()), seen: pick(2) === 0 }),
    async () =>
      patch('/folder', {
        email_ids: (await messages()).concat(newId()),
        folder: (['inbox', 'archive', 'trash'] as const)[pick(3)]!,
      }),
    async () =>
      db('inbound_messages')
        .whereIn('id', (await messages()).slice(0, 2))
        .delete(),
    // Adds and removes categories while messages of the conversation arrive and are marked.
    async () =>
      Promise.all([
        ...some(await threads()).map((thread) =>
          call(world, 'PUT', '/v1/unibox/thread/labels', {
            token: tenant.sessionToken,
            body: { thread_id: thread, category_ids: some(labels).map(({ id }) => id) },
          }),
        ),
        receive(replyTo(leads[pick(4)]!.original, 'At once'), pick(2) ? second : { id: mailboxId, email }),
        patch('/seen', { email_ids: (await messages()).concat(newId()), seen: pick(2) === 0 }),
      ]),
    async () => {
      const thread = (await threads())[0];
      if (thread === undefined) return;
      const until = new Date(world.deps.clock.now().getTime() + 3_600_000).toISOString();
      await (pick(2)
        ? call(world, 'POST', '/v1/unibox/snooze', {
            token: tenant.sessionToken,
            body: { thread_id: thread, snoozed_until: until },
          })
        : call(world, 'DELETE', `/v1/unibox/snooze?thread_id=${encodeURIComponent(thread)}`, {
            token: tenant.sessionToken,
          }));
    },
    async () =>
      db('inbox_threads')
        .where({ organization_id: organizationId })
        .update({ is_answered: pick(2) === 0 }),
    () => foldCountChanges(world.deps),
  ];
  const messages = async (): Promise<string[]> =>
    some(await db('inbound_messages').where({ organization_id: organizationId }).orderBy('id').pluck('id'));
  const threads = async (): Promise<string[]> =>
    db('inbox_threads')
      .where({ organization_id: organizationId })
      .distinct('thread_id')
      .orderBy('thread_id')
      .pluck('thread_id');
  const compare = async (what: string) => {
    for (const [token, mailboxes] of [
      [tenant.sessionToken, undefined],
      [restricted, [second.id]],
    ] as const) {
      const { body } = await call(world, 'GET', '/v1/unibox/overview', { token });
      const plain = await recount(
        organizationId,
        mailboxes,
        new Date(body.window_today_start),
        new Date(body.window_week_start),
      );
      const snoozes = await db('thread_snoozes').where({ organization_id: organizationId });
      t.like(body, { ...plain, snoozed: snoozes.length }, what);
    }
  };
  for (let step = 0; step < 40; step += 1) {
    await acts[step < 4 ? 0 : pick(acts.length)]!();
    await compare(`step ${step}`);
  }
  await db('labels').where({ id: labels[0]!.id }).delete();
  labels.shift();
  assertStatus(t, await call(world, 'DELETE', `/v1/emails/${second.id}`, { token: tenant.apiKey }), 204);
  t.true((await foldCountChanges(world.deps)) >= 0);
  const { body } = await call(world, 'GET', '/v1/unibox/overview', { token: tenant.sessionToken });
  t.like(
    body,
    await recount(organizationId, undefined, new Date(body.window_today_start), new Date(body.window_week_start)),
  );
  t.is((await db('inbox_count_changes').where({ organization_id: organizationId })).length, 0);
});

/** Computes the expected overview from the conversations themselves. */
async function recount(organizationId: string, mailboxes: readonly string[] | undefined, today: Date, week: Date) {
  const { db } = world.deps;
  const rows: any[] = (await db('inbox_threads').where({ organization_id: organizationId })).filter(
    ({ mailbox_id: id }: any) => !mailboxes || mailboxes.includes(id),
  );
  const boxes: any[] = await db('mailboxes').where({ organization_id: organizationId }).orderBy('email');
  const filedUnder: any[] = await db('thread_labels').where({ organization_id: organizationId });
  const categories: any[] = await db('labels')
    .where({ organization_id: organizationId, registry: 'category' })
    .orderBy('position');
  const left: number = (
    await db('sends').where({ organization_id: organizationId }).whereIn('state', ['sent', 'uncertain', 'bounced'])
  ).filter(({ mailbox_id: id }: any) => id !== null && (!mailboxes || mailboxes.includes(id))).length;
  const shown = rows.filter(({ filed }) => filed === 'inbox' || filed === 'archive');
  const counted = (some: any[]) => ({
    total: some.length,
    unread: some.filter((row) => row.unseen_count > 0 || !row.seen).length,
  });
  return {
    ...counted(shown),
    today: shown.filter((row) => row.newest_at >= today).length,
    week: shown.filter((row) => row.newest_at >= week).length,
    awaiting_reply: shown.filter((row) => row.is_answered).length,
    folders: ['inbox', 'sent', 'drafts', 'archive', 'spam', 'trash'].map((folder) => ({
      folder,
      ...counted(rows.filter(({ filed }) => filed === folder)),
      ...(folder === 'sent' ? { total: left } : {}),
    })),
    mailboxes: boxes
      .filter(({ id }) => !mailboxes || mailboxes.includes(id))
      .map(({ id, email, name }) => ({ id, email, name, ...counted(shown.filter((row) => row.mailbox_id === id)) })),
    categories: categories.map(({ id, title, color }) => ({
      id,
      title,
      color,
      ...counted(shown.filter((row) => filedUnder.some((k) => k.label_id === id && k.thread_id === row.thread_id))),
    })),
  };
}
