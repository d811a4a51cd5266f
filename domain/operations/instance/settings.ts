import { isIP } from 'node:net';
import { getDomain } from 'tldts';
import { isGiven, type Config, type SettingName } from '../../../lib/config/index.ts';
import { PUBLISHED_DEFAULTS } from '../../../lib/config/secrets.ts';
import { isPublicAddress } from '../../../lib/egress/index.ts';
import { message, type Message } from '../../../messages/index.ts';
import type { FoundMessages } from './findings.ts';

/**
 * Returns findings from the settings of a process, without querying other parts.
 * @param env environment variables, including those of Node, such as the one that disables the check of certificates
 */
export function settingFindings(config: Config, env: Record<string, string | undefined> = process.env): FoundMessages {
  return { ...secrets(config, env), ...addresses(config), ...mail(config), ...notRead(env) };
}

/**
 * Patterns of environment variables that configure other programs but not Heron, by finding. An operator who reuses a
 * settings file may assume that they work, which is dangerous for a captcha.
 */
const NOT_READ = {
  captcha_misconfigured: /^(?:TURNSTILE|CAPTCHA|RECAPTCHA|HCAPTCHA)_(?!.*BYPASS)/,
  turnstile_bypass_set: /^(?:TURNSTILE|CAPTCHA)_.*BYPASS/,
  google_sign_in_incomplete: /^GOOGLE_(?:SIGN_IN|LOGIN|OAUTH|CLIENT)_/,
  apple_sign_in_incomplete: /^APPLE_(?:SIGN_IN|LOGIN|OAUTH|CLIENT|TEAM|KEY|PRIVATE_KEY)/,
} as const;

function notRead(env: Record<string, string | undefined>): FoundMessages {
  const given = Object.keys(env).filter((name) => env[name]);
  return Object.fromEntries(
    (Object.keys(NOT_READ) as (keyof typeof NOT_READ)[]).map((code) => {
      const names = given.filter((name) => NOT_READ[code].test(name)).sort();
      return [code, when(names.length > 0, message(`finding.${code}`, { names: names.join(', ') }))];
    }),
  );
}

function secrets(config: Config, env: Record<string, string | undefined>): FoundMessages {
  const isProduction = config.APP_ENV === 'prod';
  const published = Object.entries(PUBLISHED_DEFAULTS).flatMap(([name, value]) =>
    config[name as SettingName] === value ? [name] : [],
  );
  return {
    secret_published_default: when(
      published.length > 0,
      message('finding.secret_published_default', { names: published.join(', ') }),
    ),
    allow_insecure_defaults: when(config.ALLOW_INSECURE_DEFAULTS, message('finding.allow_insecure_defaults')),
    credentials_key_unset: when(
      !isGiven(config, 'CREDENTIALS_ENCRYPTION_KEY'),
      message('finding.credentials_key_unset'),
    ),
    internal_token_unset: when(
      isProduction && config.METRICS_TOKEN === undefined,
      message('finding.internal_token_unset'),
    ),
    trusted_proxies_unset: when(
      isProduction && !isGiven(config, 'TRUSTED_PROXIES'),
      message('finding.trusted_proxies_unset'),
    ),
    unsafe_webhook_urls: when(config.ALLOW_UNSAFE_WEBHOOK_URLS, message('finding.unsafe_webhook_urls')),
    tls_verification_off: when(env.NODE_TLS_REJECT_UNAUTHORIZED === '0', message('finding.tls_verification_off')),
    registration_mode: when(
      isProduction && config.DISABLE_REGISTRATION === 'false',
      message('finding.registration_mode'),
    ),
  };
}

function addresses(config: Config): FoundMessages {
  const isProduction = config.APP_ENV === 'prod';
  const { API_PUBLIC_URL: api, APP_URL: app, TRACKING_DOMAIN: tracking } = config;
  const outside = [api, app].filter((address) => !isLocal(address));
  const here = [...new Set([app, tracking].filter(isLocal))];
  const plain = outside.filter((address) => address.startsWith('http:'));
  const brands = [siteOf(app), siteOfMail(config.MAIL_FROM)];
  return {
    dev_mode_public: when(
      !isProduction && outside.length > 0,
      message('finding.dev_mode_public', { addresses: [...new Set(outside)] }),
    ),
    app_url_unset: when(here.length > 0, message('finding.app_url_unset', { addresses: here })),
    app_url_insecure: when(plain.length > 0, message('finding.app_url_insecure', { addresses: [...new Set(plain)] })),
    app_url_host_mismatch: when(
      outside.length === 2 && siteOf(api) !== siteOf(app),
      message('finding.app_url_host_mismatch', { app, api }),
    ),
    cors_missing_origin: when(
      new URL(app).origin !== new URL(api).origin && !config.CORS_ALLOW_ORIGINS.includes(new URL(app).origin),
      message('finding.cors_missing_origin', { origin: new URL(app).origin }),
    ),
    app_origin_wildcard: when(config.CORS_ALLOW_ORIGINS.includes('*'), message('finding.app_origin_wildcard')),
    api_public_url_unset_oidc: when(
      isProduction && !isGiven(config, 'API_PUBLIC_URL'),
      message('finding.api_public_url_unset_oidc', { api }),
    ),
    tracking_domain_shares_brand: when(
      !isLocal(tracking) && brands.includes(siteOf(tracking)),
      message('finding.tracking_domain_shares_brand', { domain: tracking }),
    ),
  };
}

function mail(config: Config): FoundMessages {
  const { MAIL_TRANSPORT: transport, AUTH_LOGIN_CODE: code, MAIL_FROM: from, APP_URL: app } = config;
  if (transport === 'log')
    return {
      mail_transport_log: message('finding.mail_transport_log'),
      login_code_demoted: when(code === 'new_device', message('finding.login_code_demoted')),
      no_sign_in_method: when(code === 'always', message('finding.no_sign_in_method')),
    };
  const hasSender = isGiven(config, 'MAIL_FROM') && !/@localhost\b/.test(from);
  return {
    mail_identity_unset: when(!hasSender, message('finding.mail_identity_unset', { from })),
    mail_from_domain_mismatch: when(
      hasSender && !isLocal(app) && siteOfMail(from) !== siteOf(app),
      message('finding.mail_from_domain_mismatch', { from, app }),
    ),
  };
}

const when = (applies: boolean, said: Message): Message | undefined => (applies ? said : undefined);

/** Returns the registered domain of a host, or the host itself if there is none. */
function siteOf(address: string): string {
  const { hostname } = new URL(address);
  return getDomain(hostname) ?? hostname;
}

function siteOfMail(from: string): string {
  const host = /@([^>\s]+)/.exec(from)?.[1]?.toLowerCase() ?? '';
  return getDomain(host) ?? host;
}

/** Returns true if an address belongs to this machine or to a private network. */
function isLocal(address: string): boolean {
  const host = new URL(address).hostname.replace(/^\[|\]$/g, '');
  return isIP(host) !== 0
    ? !isPublicAddress(host)
    : host === 'localhost' || !host.includes('.') || host.endsWith('.localhost');
}
