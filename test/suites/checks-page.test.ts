import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { freePort } from '../../local/servers.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { createMailbox } from '../harness/factories.ts';
import { heron } from '../harness/heron.ts';
import { startMailWorld, type MailWorld } from '../harness/mail.ts';
import { call, createWorld, type World } from '../harness/world.ts';

/*
 * Runs the commands of docs/guides/check-a-campaign.md as written, except for the app's port. Also runs `heron
 * preflight`, which the page shows.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

let world: World;
let mail: MailWorld;
let engine: Engine;
test.before(async () => {
  [world, mail] = await Promise.all([createWorld(), startMailWorld()]);
  engine = await startEngine(world);
});
test.after.always(async () => {
  await engine?.stop();
  await mail?.stop();
  await world?.close();
});

async function workspace() {
  const tenant = await world.tenant();
  const email = `sam.${tenant.organizationId}@sender.example.com`;
  const { smtp, imap } = await mail.addMailbox({ email, password: 'secret' });
  await createMailbox(world.deps, tenant.organizationId, email, { smtp, imap });
  return { ...tenant, env: { HERON_API_URL: world.url, HERON_API_KEY: tenant.apiKey } };
}

test('every command of docs/guides/check-a-campaign.md does what the page says', async (t) => {
  const page = await readFile(`${ROOT}/docs/guides/check-a-campaign.md`, 'utf8');
  const commands = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, code]) => code!).join('\n');
  const { env, organizationId } = await workspace();
  const script = commands.replaceAll('4100', String(await freePort()));
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: ROOT,
    env: { ...process.env, ...env, HERON_DATA_DIR: '/nonexistent' },
  });
  const lines = stdout.trim().split('\n');
  const [valid, problem, leads, then, verdict] = lines;
  t.is(valid, 'false');
  t.regex(problem!, /^campaign_no_contacts: \w/);
  t.deepEqual([leads, then], ['1', 'true']);
  t.regex(verdict!, /^passed, score \d+ of 100$/);
  t.regex(stdout, /^ok +launch +The campaign can start$/m);
  t.regex(stdout, /^ {2}fix: \w/m);
  t.deepEqual(lines.slice(-6), ['test', 'cancelled', 'Question: sent', 'Answer: timeout', 'Reminder: sent', 'true']);
  const to = mail.messages.filter(({ envelope }) => envelope.to.includes('you@example.com'));
  t.is(to.length, 3, 'the first email twice, the reminder once');
  t.is((await world.deps.db('campaigns').where({ organization_id: organizationId }).first()).status, 'draft');
});

test('heron preflight: exit code 1 with an error, JSON as the API answers, and every fault said', async (t) => {
  const { env, apiKey } = await workspace();
  const draft = await call(world, 'POST', '/v1/campaigns', {
    token: apiKey,
    body: { name: 'Faulty', steps: [{ subject: 'Empty' }, { subject: 'Hi', body_plain: '{{.App.demo.url}}' }] },
  });
  const told = await heron(['preflight', draft.body.id], env);
  t.is(told.code, 1);
  t.regex(told.stdout, /^NOT PASSED, score \d+ of 100$/m);
  t.regex(told.stdout, /^ERROR {2,}launch /m);
  for (const code of ['empty_step_body', 'campaign_variable_missing', 'campaign_no_contacts'])
    t.regex(told.stdout, new RegExp(`^error: .* \\(launch, ${code}\\)\n {2}fix: \\w`, 'm'));
  t.regex(told.stderr, /3 errors to mend before a start/);

  const json = await heron(['preflight', draft.body.id, '--json'], env);
  t.is(json.code, 1);
  const report = JSON.parse(json.stdout);
  const [stored] = await world.deps.db('preflight_reports').where({ id: report.id });
  t.like(report, { campaign_id: draft.body.id, passed: false, score: stored.score });

  const unknown = await heron(['preflight', '00000000-0000-4000-8000-000000000000'], env);
  t.deepEqual([unknown.code, unknown.stdout], [1, '']);
  t.regex(unknown.stderr, /Campaign not found/);
  const nameless = await heron(['preflight', draft.body.id], { ...env, HERON_API_KEY: '' });
  t.regex(nameless.stderr, /set HERON_API_KEY: a key with SEND_CAMPAIGNS/);
  const nowhere = await heron(['preflight', draft.body.id], { ...env, HERON_API_URL: 'http://127.0.0.1:1' });
  t.regex(nowhere.stderr, /does not answer: set HERON_API_URL/);
  t.is((await heron(['preflight'], env)).code, 2);
});
