import test from 'ava';
import { createKeyring } from '../keyring.ts';
import { ConfigError, describeConfig, isGiven, loadConfig, loadTrackingConfig } from './index.ts';

const PROD = {
  APP_ENV: 'prod',
  AUTH_SECRET: 'a secret of more than thirty-two characters',
  CREDENTIALS_ENCRYPTION_KEY: 'ab'.repeat(32),
  PRIMARY_DB: 'postgres://heron:own@db.example.com/heron',
};
const MAIL = { MAIL_TRANSPORT: 'smtp', SMTP_HOST: 'smtp.example.com' };

test('production does not write sign-in codes to the log', (t) => {
  const error = t.throws(() => loadConfig(PROD), { instanceOf: ConfigError });
  t.deepEqual(
    error?.faults.map((fault) => fault.split(':')[0]),
    ['MAIL_TRANSPORT'],
  );
  t.notThrows(() => loadConfig({ ...PROD, ...MAIL }));
  t.notThrows(() => loadConfig({ ...PROD, ALLOW_INSECURE_DEFAULTS: 'true' }));
});

test('no proxies are trusted where none is said to be there', (t) => {
  t.deepEqual(loadConfig({ TRUSTED_PROXIES: 'none' }).TRUSTED_PROXIES, []);
});

test('earlier keys are whole keys', (t) => {
  t.throws(() => loadConfig({ CREDENTIALS_PREVIOUS_KEYS: 'ab' }), { message: /CREDENTIALS_PREVIOUS_KEYS/ });
  t.is(
    loadConfig({ CREDENTIALS_PREVIOUS_KEYS: `${'ab'.repeat(32)}, ${'cd'.repeat(32)}` }).CREDENTIALS_PREVIOUS_KEYS
      .length,
    2,
  );
});

test('JWT_SECRET is AUTH_SECRET by another name, and contradicts it nowhere', (t) => {
  const secret = 'a secret of more than thirty-two characters';
  const config = loadConfig({ JWT_SECRET: secret });
  t.like(config, { AUTH_SECRET: secret, JWT_SECRET: secret });
  t.true(isGiven(config, 'AUTH_SECRET'));
  t.notThrows(() => loadConfig({ JWT_SECRET: secret, AUTH_SECRET: secret }));
  t.throws(() => loadConfig({ JWT_SECRET: secret, AUTH_SECRET: `${secret}!` }), { message: /JWT_SECRET: must be the/ });
  t.throws(() => loadConfig({ JWT_SECRET: 'short' }), { message: /JWT_SECRET: needs 32/ });
  t.notThrows(() => loadConfig({ ...PROD, ...MAIL, AUTH_SECRET: undefined, JWT_SECRET: secret }));
});

test('KMS_LOCAL_MASTER_KEY encrypts where no other key does, and else only decrypts', (t) => {
  const bytes = Buffer.alloc(32, 7);
  const master = bytes.toString('base64');
  t.like(loadConfig({ KMS_LOCAL_MASTER_KEY: master }), {
    CREDENTIALS_ENCRYPTION_KEY: bytes.toString('hex'),
    CREDENTIALS_PREVIOUS_KEYS: [],
  });
  const beside = loadConfig({
    KMS_LOCAL_MASTER_KEY: master,
    CREDENTIALS_ENCRYPTION_KEY: 'ab'.repeat(32),
    CREDENTIALS_PREVIOUS_KEYS: 'cd'.repeat(32),
  });
  t.is(beside.CREDENTIALS_ENCRYPTION_KEY, 'ab'.repeat(32));
  t.deepEqual(beside.CREDENTIALS_PREVIOUS_KEYS, ['cd'.repeat(32), bytes.toString('hex')]);
  t.notThrows(() =>
    loadConfig({ ...PROD, ...MAIL, CREDENTIALS_ENCRYPTION_KEY: undefined, KMS_LOCAL_MASTER_KEY: master }),
  );
  for (const wrong of [bytes.toString('hex'), Buffer.alloc(31).toString('base64'), `${master}=`])
    t.throws(() => loadConfig({ KMS_LOCAL_MASTER_KEY: wrong }), { message: /KMS_LOCAL_MASTER_KEY: needs exactly 32/ });
});

test('what one key sealed is opened after KMS_LOCAL_MASTER_KEY gave way to another', (t) => {
  const master = Buffer.alloc(32, 9).toString('base64');
  const ring = (env: Record<string, string>) => {
    const { CREDENTIALS_ENCRYPTION_KEY, CREDENTIALS_PREVIOUS_KEYS } = loadConfig(env);
    return createKeyring(CREDENTIALS_ENCRYPTION_KEY, CREDENTIALS_PREVIOUS_KEYS);
  };
  const sealed = ring({ KMS_LOCAL_MASTER_KEY: master }).seal('password', 'mailboxes/1');
  const after = ring({ KMS_LOCAL_MASTER_KEY: master, CREDENTIALS_ENCRYPTION_KEY: 'ab'.repeat(32) });
  t.is(after.open(sealed, 'mailboxes/1').toString(), 'password');
  t.throws(() => ring({ CREDENTIALS_ENCRYPTION_KEY: 'ab'.repeat(32) }).open(sealed, 'mailboxes/1'));
});

test('PUBLIC_HOST sets the public URLs that have no value of their own', (t) => {
  const config = loadConfig({ PUBLIC_HOST: 'heron.example.com', APP_URL: 'https://app.example.com' });
  t.like(config, {
    API_PUBLIC_URL: 'https://heron.example.com',
    APP_URL: 'https://app.example.com',
    REALTIME_PUBLIC_URL: 'https://heron.example.com',
    TRACKING_DOMAIN: 'http://127.0.0.1:3000',
  });
  t.true(isGiven(config, 'API_PUBLIC_URL'));
  t.is(loadConfig({ PUBLIC_HOST: 'localhost:8443' }).APP_URL, 'https://localhost:8443');
  t.throws(() => loadConfig({ PUBLIC_HOST: 'https://heron.example.com' }), { message: /PUBLIC_HOST: must be a host/ });
});

test('these four are listed with their source, the secrets as fingerprints', (t) => {
  const config = loadConfig({
    JWT_SECRET: 'a secret of more than thirty-two characters',
    SECRET_KEY_BASE: 'k'.repeat(64),
    KMS_LOCAL_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    PUBLIC_HOST: 'heron.example.com',
  });
  const listed = new Map(describeConfig(config).map((one) => [one.name, one]));
  for (const name of ['JWT_SECRET', 'SECRET_KEY_BASE', 'KMS_LOCAL_MASTER_KEY'] as const) {
    t.like(listed.get(name), { source: 'environment', sensitive: true });
    t.regex(String(listed.get(name)!.value), /^sha256:[0-9a-f]{8}$/);
  }
  t.like(listed.get('PUBLIC_HOST'), { value: 'heron.example.com', source: 'environment', sensitive: false });
  const unset = new Map(describeConfig(loadConfig({})).map((one) => [one.name, one]));
  for (const name of ['JWT_SECRET', 'SECRET_KEY_BASE', 'KMS_LOCAL_MASTER_KEY', 'PUBLIC_HOST'] as const)
    t.like(unset.get(name), { value: null, source: 'unset' });
});

test('SECRET_KEY_BASE has 64 characters or more', (t) => {
  t.is(loadConfig({ SECRET_KEY_BASE: 'k'.repeat(64) }).SECRET_KEY_BASE, 'k'.repeat(64));
  t.throws(() => loadConfig({ SECRET_KEY_BASE: 'k'.repeat(63) }), { message: /SECRET_KEY_BASE: needs 64/ });
});

test('a setting that other programs call otherwise is taken by that name too, after its own', (t) => {
  const config = loadConfig({ REDIS: 'redis://one', INTERNAL_API_TOKEN: 'token' });
  t.like(config, { REDIS_URL: 'redis://one', METRICS_TOKEN: 'token' });
  t.true(isGiven(config, 'METRICS_TOKEN'));
  t.is(loadConfig({ REDIS: 'redis://one', REDIS_URL: 'redis://two' }).REDIS_URL, 'redis://two');
  t.throws(() => loadConfig({ REDIS: 'http://one' }), { message: /REDIS_URL/ });
});

test('in production the tracking process reads its own settings only, and refuses the secrets of others', (t) => {
  const own = { APP_ENV: 'prod', PRIMARY_DB: PROD.PRIMARY_DB, TRACKING_KEYS: 'cd'.repeat(32), TRACKING_PORT: '3001' };
  const config = loadTrackingConfig({ ...own, API_PORT: '81', SMTP_HOST: 'smtp.example.com' });
  t.like(config, { TRACKING_PORT: 3001, TRACKING_KEYS: ['cd'.repeat(32)], API_PORT: 8080, SMTP_HOST: undefined });
  const faultsOf = (env: Record<string, string>) =>
    t
      .throws(() => loadTrackingConfig(env), { instanceOf: ConfigError })!
      .faults.map((fault) => fault.split(':')[0])
      .sort();
  t.deepEqual(faultsOf({ ...PROD, ...MAIL, TRACKING_KEYS: own.TRACKING_KEYS }), [
    'AUTH_SECRET',
    'CREDENTIALS_ENCRYPTION_KEY',
  ]);
  t.deepEqual(faultsOf({ ...own, TRACKING_KEYS: '' }), ['TRACKING_KEYS']);
  t.deepEqual(faultsOf({ ...own, TRACKING_KEYS: 'ab' }), ['TRACKING_KEYS']);
  t.deepEqual(faultsOf({ ...own, PRIMARY_DB: '' }), ['PRIMARY_DB'], 'a published password');
  t.is(loadTrackingConfig({ API_PORT: '81' }).API_PORT, 81, 'a checkout has one environment for all processes');
});
