import type { Config } from '../lib/config/index.ts';

/** What mail needs and this configuration does not give, a sentence each: nothing that keeps a process from starting. */
export function mailWarnings(config: Config): string[] {
  const warnings: string[] = [];
  if (config.MAIL_TRANSPORT === 'log')
    warnings.push(
      'MAIL_TRANSPORT=log: sign-in codes, invitations and password resets are not sent; they are written to the log. Set MAIL_TRANSPORT=smtp and SMTP_HOST.',
    );
  else if (/@localhost\b/.test(config.MAIL_FROM))
    warnings.push(
      `MAIL_FROM is ${config.MAIL_FROM}: mail servers refuse such a sender. Set an address of your domain.`,
    );
  if (isOnlyHere(config.APP_URL))
    warnings.push(`APP_URL is ${config.APP_URL}: links in invitations and resets work on this machine only.`);
  if (isOnlyHere(config.TRACKING_DOMAIN))
    warnings.push(
      `TRACKING_DOMAIN is ${config.TRACKING_DOMAIN}: links, open images and unsubscribe links in campaign emails work on this machine only.`,
    );
  return warnings;
}

function isOnlyHere(address: string): boolean {
  const { hostname } = new URL(address);
  return (
    hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || hostname.startsWith('127.')
  );
}
