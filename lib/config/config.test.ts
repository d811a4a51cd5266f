import test from 'ava';
import { ConfigError, isGiven, loadConfig, loadTrackingConfig } from './index.ts';

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
