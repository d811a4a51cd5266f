import test from 'ava';
import { configWarnings, ConfigError, loadConfig } from './index.ts';

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

test('production warns when no trusted proxies are set', (t) => {
  const warnings = (extra: Record<string, string>) => {
    const env = { ...PROD, ...MAIL, ...extra };
    return configWarnings(loadConfig(env), env).map((line) => line.split(' ')[0]);
  };
  t.deepEqual(warnings({}), ['TRUSTED_PROXIES']);
  t.deepEqual(warnings({ TRUSTED_PROXIES: 'none' }), []);
  t.deepEqual(warnings({ TRUSTED_PROXIES: '10.0.0.0/8' }), []);
  t.deepEqual(loadConfig({ TRUSTED_PROXIES: 'none' }).TRUSTED_PROXIES, []);
  t.deepEqual(warnings({ TRUSTED_PROXIES: 'none', MAIL_TRANSPORT: 'log', ALLOW_INSECURE_DEFAULTS: 'true' }), [
    'MAIL_TRANSPORT',
    'ALLOW_INSECURE_DEFAULTS',
  ]);
  t.deepEqual(configWarnings(loadConfig({})), []);
});

test('earlier keys are whole keys', (t) => {
  t.throws(() => loadConfig({ CREDENTIALS_PREVIOUS_KEYS: 'ab' }), { message: /CREDENTIALS_PREVIOUS_KEYS/ });
  t.is(
    loadConfig({ CREDENTIALS_PREVIOUS_KEYS: `${'ab'.repeat(32)}, ${'cd'.repeat(32)}` }).CREDENTIALS_PREVIOUS_KEYS
      .length,
    2,
  );
});
