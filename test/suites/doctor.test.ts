import test, { type ExecutionContext } from 'ava';
import { connectRaw } from '../../db/connection.ts';
import { cancelOrder } from '../../domain/billing/mailbox-orders/end.ts';
import { newId } from '../../lib/ids.ts';
import { createTestDatabase, testPostgresUrl } from '../harness/database.ts';
import { heron } from '../harness/heron.ts';
import { startMailWorld } from '../harness/mail.ts';
import { createOrderToPay, createPaymentWorld } from '../harness/payments.ts';
import { assertNowhere, randomSecret } from '../harness/secrets.ts';

interface Finding {
  part: string;
  code: string;
  severity: 'error' | 'warning' | 'info';
  message: string;
  fix: string;
}

/** Runs `heron doctor` without the settings of a local installation. */
async function doctor(
  env: Record<string, string>,
  ...args: string[]
): Promise<{ code: number; findings: Finding[]; text: string }> {
  const { code, stdout, stderr } = await heron(['doctor', ...args], { HERON_DATA_DIR: '/nonexistent', ...env });
  const findings = args.includes('--json') && stdout ? (JSON.parse(stdout) as { findings: Finding[] }).findings : [];
  return { code, findings, text: stdout + stderr };
}

const faults = (findings: readonly Finding[]) => findings.filter(({ severity }) => severity === 'error');

const SECRETS = { AUTH_SECRET: 'x'.repeat(40), CREDENTIALS_ENCRYPTION_KEY: 'ab'.repeat(32) };

async function temporalEnv(t: ExecutionContext) {
  const address = process.env.HERON_TEST_TEMPORAL;
  t.truthy(address);
  return { TEMPORAL_ADDRESS: address! };
}

test('doctor finds nothing to mend where everything fits, and its test email arrives', async (t) => {
  const database = await createTestDatabase();
  const mail = await startMailWorld();
  t.teardown(async () => {
    await mail.stop();
    await database.drop();
  });
  const password = randomSecret('password');
  await mail.addMailbox({ email: 'heron@example.com', password });
  const env = {
    ...SECRETS,
    ...(await temporalEnv(t)),
    PRIMARY_DB: database.url,
    MAIL_TRANSPORT: 'smtp',
    MAIL_FROM: 'Heron <heron@example.com>',
    SMTP_HOST: mail.smtp.host,
    SMTP_PORT: String(mail.smtp.port),
    SMTP_SECURITY: 'none',
    SMTP_USERNAME: 'heron@example.com',
    SMTP_PASSWORD: password,
  };
  const { code, findings, text } = await doctor(env, '--json', '--mail-to', 'operator@example.com');
  t.is(code, 0, text);
  t.deepEqual(faults(findings), []);
  for (const part of ['settings', 'database', 'clock', 'temporal', 'mail'])
    t.true(
      findings.some((finding) => finding.part === part && finding.severity === 'info'),
      `${part}: ${text}`,
    );
  t.deepEqual(
    mail.messages.map(({ envelope }) => envelope.to),
    [['operator@example.com']],
  );
  // Local addresses cause warnings, not errors.
  t.is(findings.filter(({ part, severity }) => part === 'dns' && severity === 'warning').length, 3);

  assertNowhere(t, text, [password]);

  const wrong = randomSecret('wrong');
  const refused = await doctor({ ...env, SMTP_PASSWORD: wrong }, '--json');
  t.is(refused.code, 1);
  t.regex(faults(refused.findings)[0]!.message, /535|credentials/i);
  assertNowhere(t, refused.text, [wrong]);
});

test('doctor names every fault at once, each with its fix, and exits with 1', async (t) => {
  const name = `heron_doctor_${newId().replaceAll('-', '')}`;
  const admin = connectRaw({ url: testPostgresUrl(), max: 1 });
  await admin.raw(`create database ${name}`);
  await admin.raw(`create role ${name} login password 'weak'`);
  t.teardown(async () => {
    await admin.raw(`drop database ${name} with (force)`);
    await admin.raw(`drop role ${name}`);
    await admin.destroy();
  });
  const url = new URL(testPostgresUrl());
  url.pathname = `/${name}`;
  url.username = name;
  url.password = 'weak';
  const env = {
    ...(await temporalEnv(t)),
    PRIMARY_DB: url.href,
    TEMPORAL_NAMESPACE: 'nowhere',
    APP_URL: 'https://no-such-name.invalid',
    MAIL_TRANSPORT: 'smtp',
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: '1',
  };
  const { code, findings } = await doctor(env, '--json');
  t.is(code, 1);
  const found = faults(findings);
  t.deepEqual([...new Set(found.map(({ part }) => part))].toSorted(), ['database', 'dns', 'mail', 'temporal']);
  for (const { message, fix } of found) t.truthy(fix, message);
  const words = found.map(({ message, fix }) => `${message} ${fix}`).join('\n');
  for (const part of [
    /may not create tables/,
    /migrations? pending.*heron migrate/,
    /namespace nowhere/,
    /no-such-name\.invalid/,
  ])
    t.regex(words, part);
  t.true(
    findings.some(({ part, severity }) => part === 'settings' && severity === 'warning'),
    'published secrets',
  );

  const password = randomSecret('password');
  const { text, code: away } = await doctor({
    ...env,
    PRIMARY_DB: `postgres://heron:${password}@127.0.0.1:1/heron`,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
  });
  t.is(away, 1);
  t.regex(text, /^ERROR +database +the database at 127\.0\.0\.1:1\/heron cannot be used/m);
  t.regex(text, /^ERROR +temporal +Temporal at 127\.0\.0\.1:1 cannot be reached/m);
  t.regex(text, /^ +fix: Check PRIMARY_DB/m);
  assertNowhere(t, text, [password]);
  t.notRegex(text, /\n\s+at /, 'no stack');
});

test('doctor shows the books of orders and renewals, and names an order whose money is nowhere', async (t) => {
  const paying = await createPaymentWorld();
  t.teardown(() => paying.close());
  const { deps } = paying.world;
  const [ready, given] = [await createOrderToPay(paying), await createOrderToPay(paying)];
  for (const desk of [ready, given]) await paying.stripe.pay(await desk.checkout());
  await deps.db('mailbox_orders').where({ id: ready.orderId }).update({ state: 'ready', ready_at: deps.clock.now() });
  const { provider_subscription_id: subscription } = await ready.payment();
  await paying.stripe.chargeMonth(subscription!, true);
  await cancelOrder(paying.world.system(given.tenant.organizationId), given.orderId);
  const look = async () => {
    const { code, findings } = await doctor(
      { ...SECRETS, ...(await temporalEnv(t)), PRIMARY_DB: deps.config.PRIMARY_DB },
      '--json',
    );
    return { code, books: findings.filter(({ part }) => part === 'orders') };
  };
  t.like((await look()).books, [
    {
      part: 'orders',
      severity: 'info',
      message: 'usd: 45.00 taken = 26.00 ready + 0.00 renewed + 19.00 refunds + 0.00 for a person + 0.00 under way',
    },
  ]);

  // The order ended without becoming ready, and its payment was not refunded.
  await deps.db('payments').where({ id: given.paymentId }).update({ state: 'paid' });
  const { code, books } = await look();
  t.is(code, 1);
  t.like(books, [{ severity: 'error' }]);
  t.true(books[0]!.message.includes(`not explained: ${given.orderId}`), books[0]!.message);
});
