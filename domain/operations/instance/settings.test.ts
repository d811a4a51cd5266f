import test from 'ava';
import { loadConfig } from '../../../lib/config/index.ts';
import { settingsSchema } from '../../../lib/config/settings.ts';
import { findingCode, renderFinding } from '../../../lib/finding.ts';
import { toFindings, type FindingCode } from './findings.ts';
import { settingFindings } from './settings.ts';

/** Settings of a production installation without any findings. */
const WELL = {
  APP_ENV: 'prod',
  AUTH_SECRET: 'a secret of more than thirty-two characters',
  CREDENTIALS_ENCRYPTION_KEY: 'ab'.repeat(32),
  PRIMARY_DB: 'postgres://heron:own@db.example.com/heron',
  METRICS_TOKEN: 'of our own',
  TRUSTED_PROXIES: 'none',
  API_PUBLIC_URL: 'https://heron.example.com',
  APP_URL: 'https://heron.example.com',
  TRACKING_DOMAIN: 'https://links.example.net',
  MAIL_TRANSPORT: 'smtp',
  MAIL_FROM: 'Heron <heron@example.com>',
  SMTP_HOST: 'smtp.example.com',
};

const codesOf = (env: Record<string, string | undefined>, node: Record<string, string> = {}): FindingCode[] => {
  const given = { ...WELL, ...env };
  return toFindings(settingFindings(loadConfig(given), node)).map((finding) => findingCode(finding) as FindingCode);
};

/**
 * One change of these settings for each finding, which causes the finding. `also` lists further findings that the
 * change causes.
 */
const CHANGES: { [code in FindingCode]?: [env: Record<string, string | undefined>, also?: FindingCode[]] } = {
  secret_published_default: [{ AUTH_SECRET: undefined, ALLOW_INSECURE_DEFAULTS: 'true' }, ['allow_insecure_defaults']],
  allow_insecure_defaults: [{ ALLOW_INSECURE_DEFAULTS: 'true' }],
  credentials_key_unset: [
    { CREDENTIALS_ENCRYPTION_KEY: undefined, ALLOW_INSECURE_DEFAULTS: 'true' },
    ['secret_published_default', 'allow_insecure_defaults'],
  ],
  internal_token_unset: [{ METRICS_TOKEN: undefined }],
  trusted_proxies_unset: [{ TRUSTED_PROXIES: undefined }],
  dev_mode_public: [{ APP_ENV: 'dev' }],
  unsafe_webhook_urls: [
    { ALLOW_UNSAFE_WEBHOOK_URLS: 'true', ALLOW_INSECURE_DEFAULTS: 'true' },
    ['allow_insecure_defaults'],
  ],
  app_url_unset: [{ APP_URL: undefined }, ['cors_missing_origin']],
  app_url_insecure: [{ APP_URL: 'http://heron.example.com', API_PUBLIC_URL: 'http://heron.example.com' }],
  app_url_host_mismatch: [
    { APP_URL: 'https://app.example.org', CORS_ALLOW_ORIGINS: 'https://app.example.org' },
    ['mail_from_domain_mismatch'],
  ],
  cors_missing_origin: [{ APP_URL: 'https://app.example.com' }],
  api_public_url_unset_oidc: [{ API_PUBLIC_URL: undefined }, ['cors_missing_origin']],
  app_origin_wildcard: [{ CORS_ALLOW_ORIGINS: '*' }],
  mail_transport_log: [
    { MAIL_TRANSPORT: 'log', AUTH_LOGIN_CODE: 'off', ALLOW_INSECURE_DEFAULTS: 'true' },
    ['allow_insecure_defaults'],
  ],
  mail_identity_unset: [{ MAIL_FROM: undefined }],
  mail_from_domain_mismatch: [{ MAIL_FROM: 'heron@mail.example.org' }],
  login_code_demoted: [
    { MAIL_TRANSPORT: 'log', ALLOW_INSECURE_DEFAULTS: 'true' },
    ['allow_insecure_defaults', 'mail_transport_log'],
  ],
  registration_mode: [{ DISABLE_REGISTRATION: 'false' }],
  no_sign_in_method: [
    { MAIL_TRANSPORT: 'log', AUTH_LOGIN_CODE: 'always', ALLOW_INSECURE_DEFAULTS: 'true' },
    ['allow_insecure_defaults', 'mail_transport_log'],
  ],
  tracking_domain_shares_brand: [{ TRACKING_DOMAIN: 'https://links.example.com' }],
};

test('settings that are well give no finding', (t) => t.deepEqual(codesOf({}), []));

for (const [code, [env, also = []]] of Object.entries(CHANGES) as [
  FindingCode,
  [Record<string, string>, FindingCode[]?],
][])
  test(`${code} is found by the setting that brings it, and nothing else is`, (t) => {
    t.deepEqual(codesOf(env).toSorted(), [code, ...also].toSorted());
  });

test('every finding that settings can bring has a case here', (t) => {
  const log = { MAIL_TRANSPORT: 'log', ALLOW_INSECURE_DEFAULTS: 'true' };
  const codes = [{}, log].flatMap((env) => Object.keys(settingFindings(loadConfig({ ...WELL, ...env }), {})));
  const byNode = ['tls_verification_off', ...Object.keys(NOT_READ)];
  t.deepEqual([...new Set(codes)].toSorted(), [...Object.keys(CHANGES), ...byNode].toSorted());
});

/** Variables of features that Heron does not have, by the finding that they cause. */
const NOT_READ: { [code in FindingCode]?: string[] } = {
  captcha_misconfigured: ['TURNSTILE_SECRET_KEY', 'RECAPTCHA_SITE_KEY'],
  turnstile_bypass_set: ['TURNSTILE_BYPASS_TOKEN', 'TURNSTILE_BYPASS'],
  google_sign_in_incomplete: ['GOOGLE_CLIENT_ID', 'GOOGLE_SIGN_IN_CLIENT_SECRET'],
  apple_sign_in_incomplete: ['APPLE_CLIENT_ID', 'APPLE_TEAM_ID'],
};

test('variables that look like settings of parts that are not here are found, and no setting of Heron is', (t) => {
  for (const [code, names] of Object.entries(NOT_READ))
    for (const name of names) {
      t.deepEqual(codesOf({}, { [name]: 'x' }), [code as FindingCode], name);
      t.deepEqual(codesOf({}, { [name]: '' }), [], 'an empty one is not set');
    }
  t.deepEqual(codesOf({}, Object.fromEntries(Object.keys(settingsSchema.shape).map((name) => [name, 'x']))), []);
});

test('certificates that Node does not check are found', (t) => {
  t.deepEqual(codesOf({}, { NODE_TLS_REJECT_UNAUTHORIZED: '0' }), ['tls_verification_off']);
  t.deepEqual(codesOf({}, { NODE_TLS_REJECT_UNAUTHORIZED: '1' }), []);
});

test('a finding says what was found and what to do, and where it is explained', (t) => {
  const [found] = toFindings(settingFindings(loadConfig({ ...WELL, TRUSTED_PROXIES: '' }), {}));
  t.is(found!.docs, 'docs/guides/production.md#settings');
  const { message, fix, ...said } = renderFinding(found!);
  t.like(said, { code: 'trusted_proxies_unset', severity: 'warning' });
  t.regex(message, /^TRUSTED_PROXIES is not set: /);
  t.regex(fix, /^Set TRUSTED_PROXIES to .*\.$/);
});
