import test from 'ava';
import { newId } from '../../lib/ids.ts';
import { startEngine, type Engine } from '../../test/harness/engine.ts';
import { eventually } from '../../test/harness/eventually.ts';
import { createCampaign, createMailbox } from '../../test/harness/factories.ts';
import { startMailWorld, type MailWorld } from '../../test/harness/mail.ts';
import { startScriptedSmtp } from '../../test/harness/smtp-script.ts';
import { assertStatus, call, createWorld, type World } from '../../test/harness/world.ts';

let world: World;
let mail: MailWorld;
let engine: Engine;

test.before(async () => {
  world = await createWorld({ env: { WORKER_ROLES: 'temporal' } });
  mail = await startMailWorld();
  engine = await startEngine(world);
  await eventually(async () => (await world.deps.workflows.health()).workers > 0);
});
test.after.always(async () => {
  await engine?.stop();
  await mail?.stop();
  await world?.close();
});

/** Adds a user to the test's mail server, and returns the request body that connects the mailbox. */
async function bodyOfUser() {
  const email = `${newId()}@ours.test`;
  const { smtp, imap } = await mail.addMailbox({ email, password: 'a right password' });
  const login = { username: email, password: 'a right password', security: 'none' };
  return {
    provider: 'smtp_imap',
    email,
    name: 'Sam Sender',
    smtp: { ...smtp, ...login },
    imap: { ...imap, ...login },
  };
}

test.serial('several mailboxes are connected at once, and a refused one stops no other', async (t) => {
  const tenant = await world.tenant();
  const [first, second, third] = [await bodyOfUser(), await bodyOfUser(), await bodyOfUser()];
  const wrong = { ...second, smtp: { ...second.smtp, password: 'wrong' } };
  for (let n = 0; n < 8; n += 1) await createMailbox(world.deps, tenant.organizationId);
  const send = (body: object, headers = {}) =>
    call(world, 'POST', '/v1/emails/bulk', { token: tenant.apiKey, body, headers });
  const fourth = await bodyOfUser();
  const headers = { 'idempotency-key': newId() };
  const connected = await send({ mailboxes: [first, wrong, third, fourth] }, headers);
  assertStatus(t, connected, 200);
  const rows: { email: string; mailbox: { email: string } | null; error: Record<string, unknown> | null }[] =
    connected.body.results;
  t.deepEqual(
    rows.map(({ email, mailbox, error }) => [email, mailbox?.email ?? null, error?.code ?? null]),
    [
      [first.email, first.email, null],
      [wrong.email, null, 'mailbox_auth_failed'],
      [third.email, third.email, null],
      [fourth.email, null, 'mailbox_allowance_reached'],
    ],
  );
  t.like(rows[1]!.error, { problems: [{ path: 'body.mailboxes.1.smtp.password' }] } as never);
  t.deepEqual((await send({ mailboxes: [first, wrong, third, fourth] }, headers)).body, connected.body);
  t.is((await world.deps.db('mailboxes').where({ organization_id: tenant.organizationId })).length, 10);
  t.is((await send({ mailboxes: [] })).status, 400);
});

test.serial('an email over the size that the server of a mailbox takes is found before the start', async (t) => {
  const tenant = await world.tenant();
  const body = await bodyOfUser();
  const server = await startScriptedSmtp({ extensions: ['AUTH PLAIN', `SIZE ${1024 * 1024}`] });
  t.teardown(() => server.stop());
  const send = (method: string, path: string, sent?: unknown) =>
    call(world, method, `/v1${path}`, { token: tenant.apiKey, body: sent });
  const smtp = { ...body.smtp, host: server.host, port: server.port };
  const connected = await send('POST', '/emails', { ...body, smtp });
  assertStatus(t, connected, 201);
  const mailbox = await world.deps.db('mailboxes').where({ id: connected.body.id }).first();
  t.is(mailbox!.smtp_max_bytes, 1024 * 1024);
  const { campaignId, stepIds } = await createCampaign(world.deps, tenant.organizationId, [
    { subject: 'Report', body_plain: 'Hello' },
  ]);
  const found = async () => {
    const { problems } = (await send('POST', `/campaigns/${campaignId}/validate`)).body;
    return problems.filter(({ code }: { code: string }) => code === 'email_too_large');
  };
  const attach = (megabytes: number) => {
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(megabytes * 1024 * 1024)]), 'report.pdf');
    form.append('step_id', stepIds[0]!);
    return fetch(`${world.url}/v1/campaigns/${campaignId}/attachments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.apiKey}` },
      body: form,
    });
  };
  await world.deps.db('campaigns').where({ id: campaignId }).update({ status: 'draft' });
  t.is((await attach(0.7)).status, 201);
  t.deepEqual(await found(), [], '0.7 MB are below 1 MB in base64');
  t.is((await attach(0.1)).status, 201);
  const [problem, ...others] = await found();
  t.deepEqual(others, []);
  t.like(problem, {
    severity: 'error',
    step_id: stepIds[0],
    values: { size: 1.1, limit: 1, mailbox: body.email },
  });
  t.regex(problem.message, /at least 1\.1 MB, and the server of .* takes 1 MB/);
  await send('POST', `/emails/${connected.body.id}/test`);
  t.is((await found()).length, 1);
  assertStatus(t, await send('PATCH', `/emails/${connected.body.id}`, { smtp: body.smtp }), 200);
  t.deepEqual(await found(), [], 'another server that names no limit');
});
