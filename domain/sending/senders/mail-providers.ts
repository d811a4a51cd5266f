import { defined } from '../../../lib/defined.ts';
import type { Config } from '../../../lib/config/index.ts';
import { AppError } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';

/** Providers whose mailboxes are connected by OAuth consent. */
export type ConsentProvider = 'gmail' | 'outlook';

/** A mail server at the address that its provider publishes. */
interface PublishedServer {
  host: string;
  port: number;
  security: 'tls' | 'starttls' | 'none';
}

/** A provider with the installation's OAuth client. */
export interface MailProvider {
  name: ConsentProvider;
  title: string;
  clientId: string;
  clientSecret: string;
  authorize: string;
  token: string;
  /** URL that revokes a consent. Null when the provider has none. */
  revoke: string | null;
  /** URL that lists the addresses a mailbox may send as. Null when the provider has none. */
  sendAs: string | null;
  /** OAuth scopes, separated by spaces. */
  scopes: string;
  /** Additional parameters of the authorization request. */
  parameters: Readonly<Record<string, string>>;
  smtp: PublishedServer;
  imap: PublishedServer;
}

type Published = Omit<MailProvider, 'clientId' | 'clientSecret'>;

const PUBLISHED: Record<ConsentProvider, Published> = {
  gmail: {
    name: 'gmail',
    title: 'Google',
    authorize: 'https://accounts.google.com/o/oauth2/v2/auth',
    token: 'https://oauth2.googleapis.com/token',
    revoke: 'https://oauth2.googleapis.com/revoke',
    sendAs: 'https://gmail.googleapis.com/gmail/v1/users/me/settings/sendAs',
    scopes: 'openid email https://mail.google.com/',
    // Google issues a refresh token with the first consent only, unless `prompt` requests the consent again.
    parameters: { access_type: 'offline', prompt: 'consent' },
    smtp: { host: 'smtp.gmail.com', port: 465, security: 'tls' },
    imap: { host: 'imap.gmail.com', port: 993, security: 'tls' },
  },
  outlook: {
    name: 'outlook',
    title: 'Microsoft',
    authorize: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    token: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
    revoke: null,
    sendAs: null,
    scopes:
      'openid email profile offline_access https://outlook.office.com/IMAP.AccessAsUser.All https://outlook.office.com/SMTP.Send',
    parameters: { prompt: 'select_account' },
    smtp: { host: 'smtp.office365.com', port: 587, security: 'starttls' },
    imap: { host: 'outlook.office365.com', port: 993, security: 'tls' },
  },
};

/** Returns a provider for which the installation has an OAuth client, otherwise undefined. */
export function configuredProvider(config: Config, name: ConsentProvider): MailProvider | undefined {
  const [clientId, clientSecret, endpoints] =
    name === 'gmail'
      ? [config.GOOGLE_MAILBOX_CLIENT_ID, config.GOOGLE_MAILBOX_CLIENT_SECRET, config.GOOGLE_MAILBOX_ENDPOINTS]
      : [
          config.MICROSOFT_MAILBOX_CLIENT_ID,
          config.MICROSOFT_MAILBOX_CLIENT_SECRET,
          config.MICROSOFT_MAILBOX_ENDPOINTS,
        ];
  if (!clientId || !clientSecret) return undefined;
  const { sendAs, revoke, ...others } = endpoints ?? {};
  const published = PUBLISHED[name];
  const given = defined(others);
  return {
    ...published,
    ...given,
    revoke: published.revoke && (revoke ?? published.revoke),
    sendAs: published.sendAs && (sendAs ?? published.sendAs),
    clientId,
    clientSecret,
  };
}

/**
 * Returns a provider with the installation's OAuth client.
 * @throws AppError mailbox_provider_not_configured
 */
export function requireProvider(config: Config, name: ConsentProvider): MailProvider {
  const provider = configuredProvider(config, name);
  if (provider) return provider;
  const { title } = PUBLISHED[name];
  const prefix = name === 'gmail' ? 'GOOGLE' : 'MICROSOFT';
  throw new AppError('mailbox_provider_not_configured', message('mailboxes.no_oauth_client', { provider: title }), {
    fix: message('mailboxes.no_oauth_client.fix', {
      id: `${prefix}_MAILBOX_CLIENT_ID`,
      secret: `${prefix}_MAILBOX_CLIENT_SECRET`,
    }),
  });
}
