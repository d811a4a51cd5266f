import { readFile } from 'node:fs/promises';
import test from 'ava';
import { deleteContacts } from '../../domain/audience/contacts/remove.ts';
import { addDeadLetter, FAILED_EMAIL } from '../../domain/platform/dead-letters.ts';
import { PERSON_ROWS } from '../../domain/directory/person-rows.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { recordSendBounce } from '../../domain/sending/outcomes/effects.ts';
import { newId } from '../../lib/ids.ts';
import { createGoal } from '../harness/acquisition.ts';
import { createWritingDesk, type WritingDesk } from '../harness/direct-sends.ts';
import { createCampaign, createContact } from '../harness/factories.ts';
import { createMondayWorld } from '../harness/lead.ts';
import { call } from '../harness/world.ts';
import { createSentLead } from '../harness/standing-leads.ts';
import { externalText } from '../../domain/platform/external-text.ts';

/** Data of the erased person, in which each value is unique. */
const MARKS = {
  email: 'zqmark@person.test',
  former: 'zqformer@person.test',
  elsewhere: 'zqelsewhere@person.test',
  name: 'Zqname',
  surname: 'Zqsurname',
  company: 'Zqcompany',
  phone: '+49 zqphone',
  field: 'zqfield',
  words: 'zqwords',
  html: 'zqhtml',
  file: 'zqfile',
  sent: 'zqsent',
  draft: 'zqdraft',
  user: 'zquser',
  browser: 'zqbrowser',
  data: 'zqdata',
  server: 'zqserver',
  client: 'zqclient',
  imported: 'zqimported',
  unsent: 'zqunsent',
  asked: 'zqasked',
  sample: 'zqsample',
  deal: 'zqdeal',
  task: 'zqtask',
  note: 'zqnote',
};

/** Columns that keep data of a deleted contact, with the reason. */
const STAYS: Record<string, string> = {
  'audit_logs.changes': 'who deleted whom is what the audit trail is for',
  'domain_events.data':
    'events are kept EVENT_RETENTION_DAYS for webhooks and resumed sockets, the deletion itself among them',
  'opt_out_questions.email':
    'an address that may have asked to stop is written to by nobody before a person has decided',
  'sends.recipient': 'a late bounce, complaint or opt-out of an email that left has to suppress its address',
  'webhook_payloads.body': 'what was sent to a receiver is kept EVENT_RETENTION_DAYS, to be sent again as it was',
  'suppressions.email': 'an address that may not be mailed must be known, more so when its contact is gone',
};

/** Tables with data of a person that is not in the person's file, with the reason. */
const NOT_IN_FILE: Record<string, string> = {
  domain_events: 'each announces a change of a row that is in the file',
  webhook_payloads: 'each repeats such an event for a receiver',
  idempotency_keys: 'answers of the API, kept for a day to be repeated',
  campaign_logs: 'its lines name contacts by id, and say what the rows of the campaign say',
  inbound_bodies: 'the text of a reply as HTML; the file has its text',
  message_words: 'index of the words of replies',
  sent_words: 'index of the words of emails',
  sent_contents: 'packed text of an email; the file has it unpacked, with the email',
  sent_copies: 'source texts that emails of several people share',
  blobs: 'bytes of files; the file names them',
  blob_chunks: 'bytes of files; the file names them',
};
/** Parts of the file that no statement of the deletion names, with the reason. */
const NOT_ERASED: Record<string, string> = {
  audit_logs: 'who deleted whom is what the audit trail is for',
  opt_out_questions: 'an address that may have asked to stop is written to by nobody before a person has decided',
  send_facts: 'the counts of an email stay without its contact',
  tracked_links: 'a link in an email that left still leads to its page',
};
const stage = await createMondayWorld(test);
const { world, clock } = stage;

const WAYS: Record<string, (desk: WritingDesk, contactId: string) => Promise<number>> = {
  'a contact that is deleted': async (desk, contactId) => (await desk.remove(`/contacts/${contactId}`)).status,
  'contacts that are deleted in bulk': async ({ tenant }, contactId) => {
    const gone = await deleteContacts(world.system(tenant.organizationId), { contacts: [contactId] });
    return gone === 1 ? 204 : 404;
  },
};
for (const [what, remove] of Object.entries(WAYS))
  test.serial(`nothing is left of ${what} but what has a reason`, async (t) => {
    const desk = await createWritingDesk(stage);
    const { contactId, sendId, unsentId } = await liveThrough(desk);
    const before = await findMarks(Object.values(MARKS));
    for (const [name, mark] of Object.entries(MARKS))
      t.true(
        before.some((hit) => hit.mark === mark),
        `${name} is somewhere`,
      );

    const file = await call(world, 'GET', `/v1/contacts/${contactId}/data`, { token: desk.tenant.sessionToken });
    t.is(file.status, 200);
    for (const [name, mark] of Object.entries(MARKS))
      t.true(file.text.toLowerCase().includes(mark.toLowerCase()), `${name} is in the file`);
    t.deepEqual(
      [...new Set(before.map(({ place }) => place.split('.')[0]!))].filter((table) => !isInFile(table)),
      [],
    );

    t.is(await remove(desk, contactId), 204);
    t.is((await call(world, 'GET', `/v1/contacts/${contactId}/data`, { token: desk.tenant.sessionToken })).status, 404);
    const left = await findMarks(Object.values(MARKS));
    t.deepEqual([...new Set(left.map(({ place }) => place))].sort(), Object.keys(STAYS).sort(), places(left));
    t.deepEqual(
      await findMarks([contactId]).then((hits) =>
        [...new Set(hits.map(({ place }) => place))].filter((place) => !SAY_WHO.has(place)),
      ),
      [],
    );
    t.is((await world.deps.db('sends').where({ id: sendId }).first()).state, 'sent');
    t.is((await desk.read(unsentId)).state, 'cancelled');
    t.is((await world.deps.db('approvals').where({ subject_id: unsentId }).first()).status, 'expired');
  });

test.serial('an email to an address that only ends like the address of a person is not theirs', async (t) => {
  const desk = await createWritingDesk(stage);
  const { organizationId } = desk.tenant;
  const { db } = world.deps;
  const ann = await createContact(db, clock.now(), organizationId, { email: 'ann@x.com' });
  await createContact(db, clock.now(), organizationId, { email: 'joann@x.com' });
  const sample = (to: string, text: string, cc?: string[]) => ({
    to,
    from: desk.email,
    subject: '',
    text,
    html: '',
    cc,
  });
  const launch = await createApproval(
    desk,
    { action_type: 'campaign.launch', subject_type: 'campaign', subject_id: newId() },
    { samples: [sample('Ann@x.com', 'to one'), sample('joann@x.com', 'to another, on ann@x.com')] },
  );
  const copied = await createApproval(
    desk,
    { action_type: 'email.compose', subject_type: 'direct_send', subject_id: newId() },
    { samples: [sample('joann@x.com, lea@x.com', 'a copy', ['ann@x.com'])] },
  );
  const other = await createApproval(
    desk,
    { action_type: 'email.compose', subject_type: 'direct_send', subject_id: newId() },
    { samples: [sample('lea@x.com, joann@x.com', 'to others')] },
  );
  const file = await call(world, 'GET', `/v1/contacts/${ann}/data`, { token: desk.tenant.sessionToken });
  const { approvals } = file.body as { approvals: { id: string; content: { samples: { text: string }[] } }[] };
  t.deepEqual(Object.fromEntries(approvals.map(({ id, content }) => [id, content.samples.map(({ text }) => text)])), {
    [launch]: ['to one'],
    [copied]: ['a copy'],
  });

  t.is(await desk.remove(`/contacts/${ann}`).then(({ status }) => status), 204);
  const left = await db('approvals').whereIn('id', [launch, copied, other]);
  t.deepEqual(
    Object.fromEntries(left.map(({ id, payload }) => [id, payload.samples.map(({ text }: { text: string }) => text)])),
    { [launch]: ['to another, on ann@x.com'], [copied]: [], [other]: ['to others'] },
  );
});

const FILED = new Set(PERSON_ROWS.map(({ table }) => table));
const isInFile = (table: string) => FILED.has(table) || table in NOT_IN_FILE;

test.serial("a person's file has every table that belongs to a person, and that a deletion empties", async (t) => {
  const { db } = world.deps;
  const { rows } = await db.raw(`
    select distinct c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.attname in ('contact_id', 'person_id', 'other_person_id')`);
  const theirs = (rows as { name: string }[]).map(({ name }) => name);
  t.true(theirs.length > 20);
  t.deepEqual(
    theirs.filter((name) => !isInFile(name)),
    [],
  );

  const { rows: cascades } = await db.raw(`
    select conrelid::regclass::text as name, confrelid::regclass::text as parent from pg_constraint where contype = 'f' and confdeltype = 'c'`);
  const goes = new Set(['contacts']);
  for (let size = 0; size < goes.size;) {
    size = goes.size;
    for (const { name, parent } of cascades as { name: string; parent: string }[]) if (goes.has(parent)) goes.add(name);
  }

  const sources = await Promise.all(
    ['domain/directory/erase-traces.ts', 'domain/platform/erase-files.ts'].map((path) =>
      readFile(new URL(`../../${path}`, import.meta.url), 'utf8'),
    ),
  );
  const erased = new Set(
    sources.flatMap((source) =>
      [...source.matchAll(/(?<!for )(?:update|delete from) (\w+)/g)].map(([, table]) => table!),
    ),
  );
  t.true(erased.size > 12);
  t.deepEqual(
    [...erased].filter((table) => !isInFile(table)),
    [],
  );
  t.deepEqual(
    [...FILED].filter((table) => !erased.has(table) && !goes.has(table)).toSorted(),
    Object.keys(NOT_ERASED).toSorted(),
  );
});

/** Columns that contain the deleted contact's id: audit trail, campaign log, events, and the signalled workflow. */
const SAY_WHO = new Set([
  'audit_logs.entity_id',
  'audit_logs.metadata',
  'campaign_logs.metadata',
  'domain_events.data',
  'idempotency_keys.body',
  'outbox.payload',
  'outbox.workflow_id',
]);

test.serial('no intent for a workflow carries what is known of a person', async (t) => {
  const marks = await findMarks(Object.values(MARKS));
  t.deepEqual(
    marks.filter(({ place }) => place.startsWith('outbox.')),
    [],
  );
  t.true((await world.deps.db('outbox')).length > 0);
});

function places(hits: readonly { place: string; mark: string }[]): string {
  return [...new Set(hits.map(({ place, mark }) => `${place}: ${mark}`))].join('\n');
}

/** Finds these values in the database, including in bytes. Returns `table.column` for each. */
async function findMarks(marks: readonly string[]): Promise<{ place: string; mark: string }[]> {
  const { db } = world.deps;
  const tables: string[] = await db('pg_class')
    .whereRaw(`relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`)
    .pluck('relname');
  const needles = marks.map((mark) => ({
    mark,
    texts: [mark.toLowerCase(), Buffer.from(mark).toString('hex'), Buffer.from(mark.toLowerCase()).toString('hex')],
  }));
  const hits: { place: string; mark: string }[] = [];
  for (const table of tables) {
    const { rows } = await db.raw(`select to_jsonb(t)::text as row from ${table} t`);
    for (const { row } of rows as { row: string }[])
      for (const [column, value] of Object.entries(JSON.parse(row) as Record<string, unknown>)) {
        const text = JSON.stringify(value).toLowerCase();
        for (const { mark, texts } of needles)
          if (texts.some((each) => text.includes(each))) hits.push({ place: `${table}.${column}`, mark });
      }
  }
  return hits;
}

/** Creates a contact with every kind of data that Heron stores. */
async function liveThrough(desk: WritingDesk): Promise<{ contactId: string; sendId: string; unsentId: string }> {
  const { deps } = world;
  const { db } = deps;
  const { tenant, mailboxId, email } = desk;
  const { organizationId } = tenant;
  const { campaignId, stepIds } = await createCampaign(deps, organizationId, [
    { subject: 'Hello {{.FirstName}}', body_plain: 'Hi' },
  ]);
  const { contactId, sendId, original } = await createSentLead(deps, organizationId, {
    campaignId,
    stepId: stepIds[0]!,
    mailbox: { id: mailboxId, email },
    email: MARKS.former,
  });
  await db('sends')
    .where({ id: sendId })
    .update({
      subject: `Hello ${MARKS.name}`,
      conversation: JSON.stringify({ subject: `Hello ${MARKS.name}`, messageIds: [original.messageId] }),
      smtp_response: `250 ${MARKS.server}`,
      error_detail: externalText(MARKS.server),
    });
  const key = () => ({ 'idempotency-key': newId() });
  const post = async (path: string, body: object) => {
    const answer = await desk.post(path, body, tenant.apiKey, key());
    if (answer.status >= 300) throw new Error(answer.text);
    return answer.body;
  };
  await post('/events', { name: 'signed.up', contact_id: contactId, user_id: MARKS.user });
  const { status, text } = await patch(desk, `/contacts/${contactId}`, {
    email: MARKS.email,
    first_name: MARKS.name,
    last_name: MARKS.surname,
    company: MARKS.company,
    phone: MARKS.phone,
    custom_fields: { hobby: MARKS.field },
  });
  if (status !== 200) throw new Error(text);
  await post('/contacts', [{ email: MARKS.email, company: MARKS.company }] as unknown as object);
  await post(`/contacts/${contactId}/notes`, { content: MARKS.note });

  // People: another address of the same user, a conflict and a conversion.
  const event = await post('/events', {
    name: 'order.paid',
    email: MARKS.elsewhere,
    user_id: MARKS.user,
    anonymous_id: MARKS.browser,
    data: { note: MARKS.data },
  });
  await post('/events', { name: 'order.paid', email: 'other@else.test', anonymous_id: MARKS.browser });
  const stamp = { organization_id: organizationId, created_at: clock.now() };
  const goal = await createGoal(world, organizationId, 'custom', { is_primary: false });
  await db('conversions').insert({
    ...stamp,
    id: newId(),
    goal_id: goal,
    goal_revision: 1,
    event_id: event.event_id,
    person_id: event.person_id,
    occurred_at: clock.now(),
  });

  // Inbox: a message with HTML and a file, a reply to it, and a draft.
  await desk.receive(
    Buffer.from(
      [
        `From: ${MARKS.name} ${MARKS.surname} <${MARKS.email}>`,
        `To: ${email}`,
        `Subject: Re: ${MARKS.words}`,
        `Message-ID: <${newId()}@else.test>`,
        `In-Reply-To: ${original.messageId}`,
        'MIME-Version: 1.0',
        'Content-Type: multipart/mixed; boundary="b"',
        '',
        '--b',
        'Content-Type: text/html; charset=utf-8',
        '',
        `<p>${MARKS.words} <b>${MARKS.html}</b></p>`,
        '--b',
        `Content-Type: text/plain; name="${MARKS.file}.txt"`,
        `Content-Disposition: attachment; filename="${MARKS.file}.txt"`,
        '',
        `${MARKS.file} inside`,
        '--b--',
        '',
      ].join('\r\n'),
    ),
  );
  const { id: message, thread_id: thread } = await db('inbound_messages')
    .where({ organization_id: organizationId })
    .first('id', 'thread_id');
  await db('opt_out_questions')
    .insert({ ...stamp, email: MARKS.email, message_id: message, thread_id: thread })
    .onConflict()
    .ignore();
  const reply = await desk.post('/unibox/reply', {
    thread_id: thread,
    body_plain: MARKS.sent,
    body_html: `<p>${MARKS.sent}</p>`,
  });
  if (reply.status !== 200) throw new Error(reply.text);
  await desk.finish(reply.body.task_id);
  const draft = await desk.post('/unibox/drafts', {
    thread_id: thread,
    to: [MARKS.email],
    subject: MARKS.draft,
    body_plain: MARKS.draft,
    attachments: [
      { filename: 'draft.txt', content_type: 'text/plain', content: Buffer.from(MARKS.draft).toString('base64') },
    ],
  });
  if (draft.status >= 300) throw new Error(draft.text);

  // The email is planned before the complaint, because the contact cannot be emailed afterwards.
  const unsentId = await askAndPlan(desk, contactId, sendId);

  // Data from mail servers and browsers, such as opens.
  await db('engagement_events').insert({
    id: newId(),
    organization_id: organizationId,
    type: 'open',
    send_id: sendId,
    campaign_id: campaignId,
    contact_id: contactId,
    mailbox_id: mailboxId,
    user_agent: `Mozilla ${MARKS.client}`,
    at: clock.now(),
  });
  await post('/deliverability/events', {
    event_type: 'complaint',
    recipient_email: MARKS.email,
    provider: 'ses',
    reason: MARKS.server,
  });
  const ctx = world.system(organizationId);
  await transact(ctx, (tx) =>
    recordSendBounce(tx, { id: sendId }, { hard: false, reason: externalText(`550 ${MARKS.server}`), source: 'smtp' }),
  );
  await transact(ctx, (tx) =>
    addDeadLetter(tx, {
      taskId: sendId,
      taskType: FAILED_EMAIL,
      payload: { campaign_id: campaignId },
      error: externalText(MARKS.server),
      attempts: 1,
      maxAttempts: 3,
      nextRetryAt: null,
    }),
  );

  // An import that refused the contact's row, and a test of the campaign.
  const importId = newId();
  await db('contact_imports').insert({
    ...stamp,
    id: importId,
    status: 'completed',
    filename: 'a.csv',
    options: '{}',
    updated_at: clock.now(),
  });
  await db('contact_import_problems').insert({
    import_id: importId,
    organization_id: organizationId,
    line: 1,
    email: MARKS.email,
    row_values: [MARKS.imported],
    reason: 'invalid',
  });
  await db('test_runs').insert({
    ...stamp,
    id: newId(),
    campaign_id: campaignId,
    contact_id: contactId,
    prospect_email: MARKS.email,
    state: 'completed',
    app_values: JSON.stringify({ note: MARKS.data }),
    ends_at: clock.now(),
    updated_at: clock.now(),
  });
  await createContact(db, clock.now(), organizationId, { email: 'bystander@else.test' });
  return { contactId, sendId, unsentId };
}

/** Creates an email that waits for a person, an approver's view of a campaign, deals, tasks, and a sent webhook. */
async function askAndPlan(desk: WritingDesk, contactId: string, sendId: string): Promise<string> {
  const { db } = world.deps;
  const organization_id = desk.tenant.organizationId;
  const stamp = { organization_id, created_at: clock.now(), updated_at: clock.now() };
  const reply = await desk.post('/unibox/reply', {
    thread_id: (await db('inbound_messages').where({ organization_id }).first('thread_id')).thread_id,
    body_plain: MARKS.unsent,
  });
  if (reply.status !== 200) throw new Error(reply.text);
  const unsentId = reply.body.task_id as string;
  await createApproval(
    desk,
    { action_type: 'inbox.reply', subject_type: 'direct_send', subject_id: unsentId },
    {
      title: `Reply "${MARKS.asked}"`,
      recipients: { count: 1, source: { kind: 'addresses' }, fingerprint: '', addresses: [MARKS.email] },
      steps: [{ name: 'Reply', type: 'email', variants: [{ subject: MARKS.asked, body_plain: '', body_html: '' }] }],
    },
  );
  await createApproval(
    desk,
    { action_type: 'campaign.launch', subject_type: 'campaign', subject_id: newId() },
    {
      recipients: { count: 1, source: { kind: 'campaign' }, fingerprint: '' },
      samples: [
        { to: MARKS.email, from: desk.email, subject: '', text: MARKS.sample, html: '' },
        { to: 'bystander@else.test', from: desk.email, subject: '', text: 'Hi', html: '' },
      ],
    },
  );
  const [pipeline_id, stage_id] = [newId(), newId()];
  await db('crm_pipelines').insert({ ...stamp, id: pipeline_id, name: 'Sales', position: 0 });
  await db('crm_stages').insert({
    ...stamp,
    id: stage_id,
    pipeline_id,
    name: 'Talking',
    position: 0,
    color: '#112233',
  });
  const theirs = { ...stamp, contact_id: contactId };
  await db('crm_deals').insert({ ...theirs, id: newId(), pipeline_id, stage_id, name: MARKS.deal, currency: 'EUR' });
  await db('crm_tasks').insert({
    ...theirs,
    id: newId(),
    title: MARKS.task,
    description: MARKS.task,
    priority: 'low',
    type: 'call',
  });
  await db('webhook_payloads').insert({
    event_id: sendId,
    organization_id,
    event_type: 'contact.updated',
    body: JSON.stringify({ email: MARKS.email }),
    created_at: clock.now(),
  });
  return unsentId;
}

async function patch(desk: WritingDesk, path: string, body: object) {
  return call(world, 'PATCH', `/v1${path}`, {
    token: desk.tenant.apiKey,
    body,
    headers: { 'idempotency-key': newId() },
  });
}

/** Creates an approval. Returns its id. */
async function createApproval({ tenant }: WritingDesk, subject: object, payload: object): Promise<string> {
  const { db } = world.deps;
  const organization_id = tenant.organizationId;
  const { id: api_key_id } = await db('api_keys').where({ organization_id }).first('id');
  const id = newId();
  await db('approvals').insert({
    id,
    organization_id,
    api_key_id,
    requester_name: 'Agent',
    payload: JSON.stringify({ title: 'Email', senders: [], schedule: null, steps: [], samples: [], ...payload }),
    payload_hash: '',
    reasons: '[]',
    created_at: clock.now(),
    expires_at: new Date(clock.now().getTime() + 3600_000),
    ...subject,
  });
  return id;
}
