import { isIP } from 'node:net';
import { getDomain } from 'tldts';
import { isGiven, type Config, type SettingName } from '../../../lib/config/index.ts';
import { PUBLISHED_DEFAULTS } from '../../../lib/config/settings.ts';
import { isPublicAddress } from '../../../lib/egress/index.ts';
import type { Found } from './findings.ts';

/**
 * What the settings of a process say by themselves, without asking any other part.
 * @param env for what is no setting of Heron's: whether Node checks certificates
 */
export function lookAtSettings(config: Config, env: Record<string, string | undefined> = process.env): Found {
  return { ...secrets(config, env), ...addresses(config), ...mail(config), ...notRead(env) };
}

/**
 * Variables of parts that other programs of this kind have and this release has not. Whoever brings a file of settings along believes that they
 * work; of a captcha that is dangerous.
 */
const NOT_READ = {
  captcha_misconfigured: /^(?:TURNSTILE|CAPTCHA|RECAPTCHA|HCAPTCHA)_(?!.*BYPASS)/,
  turnstile_bypass_set: /^(?:TURNSTILE|CAPTCHA)_.*BYPASS/,
  google_sign_in_incomplete: /^GOOGLE_(?:SIGN_IN|LOGIN|OAUTH|CLIENT)_/,
  apple_sign_in_incomplete: /^APPLE_(?:SIGN_IN|LOGIN|OAUTH|CLIENT|TEAM|KEY|PRIVATE_KEY)/,
} as const;

function notRead(env: Record<string, string | undefined>): Found {
  const given = Object.keys(env).filter((name) => env[name]);
  return Object.fromEntries(
    Object.entries(NOT_READ).map(([code, pattern]) => {
      const names = given.filter((name) => pattern.test(name)).sort();
      return [code, when(names.length > 0, `${names.join(', ')}: set, and no setting of Heron`)];
    }),
  );
}

function secrets(config: Config, env: Record<string, string | undefined>): Found {
  const isProduction = config.APP_ENV === 'prod';
  const published = Object.entries(PUBLISHED_DEFAULTS).flatMap(([name, value]) =>
    config[name as SettingName] === value ? [name] : [],
  );
  return {
    secret_published_default:
      published.length > 0 ? `${published.join(', ')}: the published value is in use` : undefined,
    allow_insecure_defaults: when(config.ALLOW_INSECURE_DEFAULTS, 'ALLOW_INSECURE_DEFAULTS is set'),
    credentials_key_unset: when(
      !isGiven(config, 'CREDENTIALS_ENCRYPTION_KEY'),
      'CREDENTIALS_ENCRYPTION_KEY is not set: mailbox passwords are sealed with a key that everybody has',
    ),
    internal_token_unset: when(
      isProduction && config.METRICS_TOKEN === undefined,
      'METRICS_TOKEN is not set, so /metrics answers nobody',
    ),
    trusted_proxies_unset: when(
      isProduction && !isGiven(config, 'TRUSTED_PROXIES'),
      'TRUSTED_PROXIES is not set: behind a proxy all callers count as one address in limits, restrictions of keys and the audit log',
    ),
    unsafe_webhook_urls: when(
      config.ALLOW_UNSAFE_WEBHOOK_URLS,
      'ALLOW_UNSAFE_WEBHOOK_URLS is set: webhooks and app actions may use any scheme, host and port',
    ),
    tls_verification_off: when(
      env.NODE_TLS_REJECT_UNAUTHORIZED === '0',
      'NODE_TLS_REJECT_UNAUTHORIZED=0 makes every outgoing connection trust anybody',
    ),
    registration_mode: when(
      isProduction && config.DISABLE_REGISTRATION === 'false',
      'DISABLE_REGISTRATION is false: whoever reaches the API may open an account and a workspace',
    ),
  };
}

function addresses(config: Config): Found {
  const isProduction = config.APP_ENV === 'prod';
  const { API_PUBLIC_URL: api, APP_URL: app, TRACKING_DOMAIN: tracking } = config;
  const outside = [api, app].filter((address) => !isLocal(address));
  const here = [...new Set([app, tracking].filter(isLocal))];
  const plain = outside.filter((address) => address.startsWith('http:'));
  const brands = [siteOf(app), siteOfMail(config.MAIL_FROM)];
  return {
    dev_mode_public: when(
      !isProduction && outside.length > 0,
      `APP_ENV is dev, and people reach Heron at ${[...new Set(outside)].join(' and ')}`,
    ),
    app_url_unset: when(
      here.length > 0,
      `Links in mail begin with ${here.join(' and ')}, which only this machine reaches`,
    ),
    app_url_insecure: when(
      plain.length > 0,
      `Passwords and keys travel in the clear to ${[...new Set(plain)].join(' and ')}`,
    ),
    app_url_host_mismatch: when(
      outside.length === 2 && siteOf(api) !== siteOf(app),
      `APP_URL is ${app}, and API_PUBLIC_URL is ${api}`,
    ),
    cors_missing_origin: when(
      new URL(app).origin !== new URL(api).origin && !config.CORS_ALLOW_ORIGINS.includes(new URL(app).origin),
      `CORS_ALLOW_ORIGINS does not name ${new URL(app).origin}, where APP_URL says people are`,
    ),
    app_origin_wildcard: when(config.CORS_ALLOW_ORIGINS.includes('*'), 'CORS_ALLOW_ORIGINS contains *'),
    api_public_url_unset_oidc: when(
      isProduction && !isGiven(config, 'API_PUBLIC_URL'),
      `API_PUBLIC_URL is not set: clients are sent to ${api}`,
    ),
    tracking_domain_shares_brand: when(
      !isLocal(tracking) && brands.includes(siteOf(tracking)),
      `TRACKING_DOMAIN is ${tracking}`,
    ),
  };
}

function mail(config: Config): Found {
  const { MAIL_TRANSPORT: transport, AUTH_LOGIN_CODE: code, MAIL_FROM: from, APP_URL: app } = config;
  if (transport === 'log')
    return {
      mail_transport_log:
        'MAIL_TRANSPORT is log: sign-in codes, invitations and password resets are not sent; they are written to the log',
      login_code_demoted: when(
        code === 'new_device',
        'AUTH_LOGIN_CODE is new_device, and its codes only reach the log',
      ),
      no_sign_in_method: when(code === 'always', 'AUTH_LOGIN_CODE is always, and its codes only reach the log'),
    };
  const hasSender = isGiven(config, 'MAIL_FROM') && !/@localhost\b/.test(from);
  return {
    mail_identity_unset: when(!hasSender, `MAIL_FROM is ${from}`),
    mail_from_domain_mismatch: when(
      hasSender && !isLocal(app) && siteOfMail(from) !== siteOf(app),
      `MAIL_FROM is ${from}, and its links lead to ${app}`,
    ),
  };
}

const when = (applies: boolean, detail: string): string | undefined => (applies ? detail : undefined);

/** The domain under which somebody registered a host; the host itself where there is none. */
function siteOf(address: string): string {
  const { hostname } = new URL(address);
  return getDomain(hostname) ?? hostname;
}

function siteOfMail(from: string): string {
  const host = /@([^>\s]+)/.exec(from)?.[1]?.toLowerCase() ?? '';
  return getDomain(host) ?? host;
}

/** Whether an address is of this machine, or of a network that only insiders reach. */
function isLocal(address: string): boolean {
  const host = new URL(address).hostname.replace(/^\[|\]$/g, '');
  return isIP(host) !== 0
    ? !isPublicAddress(host)
    : host === 'localhost' || !host.includes('.') || host.endsWith('.localhost');
}
