import test from 'ava';
import { eraseTraces } from '../../../domain/directory/erase-traces.ts';
import { transact } from '../../../domain/platform/kernel/transact.ts';
import { maskOf } from '../../../lib/permissions.ts';
import { createWritingDesk, type WritingDesk } from '../../../test/harness/direct-sends.ts';
import { createApiKey, createContact, createMailbox } from '../../../test/harness/factories.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';

let world: World;
let clock: ManualClock;
test.before(async () => {
  clock = new ManualClock();
  world = await createWorld({ clock });
});
test.after.always(() => world?.close());

/** Writes and sends an email. Returns its id. */
async function write(desk: WritingDesk, fields: Record<string, unknown>): Promise<string> {
  const body = {
    email_account_id: desk.mailboxId,
    to: ['ann@else.test'],
    subject: 'Hello',
    body_plain: 'Hi',
    ...fields,
  };
  const { body: answer, text } = await desk.post('/unibox/compose', body);
  if (!answer.task_id) throw new Error(text);
  await desk.finish(answer.task_id);
  return answer.task_id;
}

const subjects = (answer: { body: any }): string[] =>
  answer.body.data.map(({ subject }: { subject: string }) => subject);

test('emails that left are listed, newest first, page by page, and found by their words, recipients and subjects', async (t) => {
  const desk = await createWritingDesk({ world, clock });
  const one = await write(desk, {
    subject: 'An offer of walnuts',
    body_plain: 'Walnuts by the tonne',
    to: ['Ann@Else.test'],
  });
  await world.deps.db.raw(`select setval('sent_words_number', nextval('sent_words_number') + 300000)`);
  const two = await write(desk, {
    subject: 'Second offer',
    body_plain: 'Almonds and walnuts',
    to: ['bob@else.test'],
    cc: ['carl@third.test'],
  });
  await world.deps.db.raw(`select setval('sent_words_number', nextval('sent_words_number') + 40000)`);
  await write(desk, { subject: 'Third', body_plain: 'Nothing to offer', to: ['dora@else.test'] });
  await desk.post('/unibox/compose', {
    email_account_id: desk.mailboxId,
    to: ['later@else.test'],
    subject: 'Has not left',
    body_plain: 'Walnuts',
    send_mode: 'scheduled',
    scheduled_at: new Date(clock.now().getTime() + 3_600_000).toISOString(),
  });
  const list = async (query = '') => desk.get(`/unibox/sent${query}`);
  t.deepEqual(subjects(await list()), ['Third', 'Second offer', 'An offer of walnuts']);
  const first = await list('?limit=2');
  t.deepEqual(subjects(first), ['Third', 'Second offer']);
  t.deepEqual(subjects(await list(`?limit=2&cursor=${encodeURIComponent(first.body.pagination.next_cursor)}`)), [
    'An offer of walnuts',
  ]);
  const row = (await list('?q=almonds')).body.data[0];
  t.like(row, {
    id: two,
    kind: 'compose',
    state: 'sent',
    email_id: desk.mailboxId,
    from_addr: [desk.email],
    to_addr: ['bob@else.test'],
    cc_addr: ['carl@third.test'],
    snippet: 'Almonds and walnuts',
    file_count: 0,
  });
  t.is((await desk.get(`/unibox/thread?thread_id=${encodeURIComponent(row.thread_id)}`)).body.data?.length, 1);
  t.deepEqual(subjects(await list('?q=walnuts')), ['Second offer', 'An offer of walnuts']);
  const found = await list('?q=offer&limit=2');
  t.deepEqual(subjects(found), ['Third', 'Second offer']);
  t.deepEqual(
    subjects(await list(`?q=offer&limit=2&cursor=${encodeURIComponent(found.body.pagination.next_cursor)}`)),
    ['An offer of walnuts'],
  );
  t.deepEqual(subjects(await list(`?q=${encodeURIComponent('"by the tonne"')}`)), ['An offer of walnuts']);
  t.deepEqual(subjects(await list('?q=-walnuts')), ['Third']);
  t.deepEqual(subjects(await list('?q=offer%20-almonds')), ['Third', 'An offer of walnuts']);
  t.deepEqual(subjects(await list('?to=third.te')), ['Second offer']);
  t.deepEqual(subjects(await list('?subject=second')), ['Second offer']);
  t.deepEqual(subjects(await list('?q=walnuts&to=ann@')), ['An offer of walnuts']);
  t.deepEqual(subjects(await list('?q=nothingofthatkind')), []);
  t.is((await list(`?cursor=${encodeURIComponent(first.body.pagination.next_cursor)}&q=offer`)).status, 400);

  // An email that is queued for another attempt is not listed. Afterwards it has its earlier place in the list.
  await world.deps.db('direct_sends').where({ id: one }).update({ state: 'queued' });
  t.deepEqual(subjects(await list()), ['Third', 'Second offer']);
  t.deepEqual(subjects(await list('?q=tonne')), []);
  await world.deps.db('direct_sends').where({ id: one }).update({ state: 'uncertain' });
  t.deepEqual(
    (await list()).body.data.map(({ state }: { state: string }) => state),
    ['sent', 'sent', 'uncertain'],
  );
});

test('only what the caller may read: mailboxes of a key, one workspace', async (t) => {
  const desk = await createWritingDesk({ world, clock });
  const { organizationId, userId } = desk.tenant;
  await write(desk, { subject: 'From the first' });
  const other = await createMailbox(world.deps, organizationId, 'other@ours.test');
  await write(desk, { subject: 'From the other', email_account_id: other });
  const { apiKey } = await createApiKey(world.deps, organizationId, userId, {
    permissions: maskOf(['READ_UNIBOX']),
    allowedMailboxes: [other],
  });
  t.deepEqual(subjects(await desk.get('/unibox/sent', apiKey)), ['From the other']);
  t.deepEqual(subjects(await desk.get('/unibox/sent?q=from', apiKey)), ['From the other']);
  t.is((await desk.get(`/unibox/sent?email_id=${desk.mailboxId}`, apiKey)).status, 403);
  t.deepEqual(subjects(await desk.get(`/unibox/sent?email_id=${desk.mailboxId}`)), ['From the first']);
  t.deepEqual(subjects(await desk.get(`/unibox/sent?email_ids=${other},${desk.mailboxId}&q=from`)), [
    'From the other',
    'From the first',
  ]);
  const stranger = await createWritingDesk({ world, clock });
  t.deepEqual(subjects(await stranger.get('/unibox/sent')), []);
  t.deepEqual(subjects(await stranger.get('/unibox/sent?q=from')), []);
});

test('an email to a contact that is erased leaves no words behind', async (t) => {
  const desk = await createWritingDesk({ world, clock });
  const { organizationId } = desk.tenant;
  const contactId = await createContact(world.deps.db, clock.now(), organizationId, { email: 'gone@else.test' });
  const id = await write(desk, { to: ['gone@else.test'], subject: 'Secret', body_plain: 'Zanzibar' });
  t.deepEqual(subjects(await desk.get('/unibox/sent?q=zanzibar')), ['Secret']);
  await transact(world.system(organizationId), (tx) => eraseTraces(tx, [contactId]));
  t.deepEqual(subjects(await desk.get('/unibox/sent')), []);
  t.is(await world.deps.db('sent_words').where({ direct_send_id: id }).first(), undefined);
});
