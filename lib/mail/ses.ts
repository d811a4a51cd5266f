import { SESv2Client, GetAccountCommand, SendEmailCommand } from '@aws-sdk/client-sesv2';
import nodemailer from 'nodemailer';
import type { Config } from '../config/index.ts';
import type { MailFate } from './fate.ts';

/** How long (ms) a request to SES may take. */
const TIMEOUT_MS = 20_000;

/** Refusals that the same message will meet again. */
const NEVER = new Set([
  'BadRequestException',
  'MessageRejected',
  'MailFromDomainNotVerifiedException',
  'NotFoundException',
]);
/** No connection came about, so that nothing can have been taken. */
const NOT_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/**
 * The client of Amazon SES (v2) for system mail. One attempt a request: an answer that was lost may have been a message that was taken. The
 * address is the operator's own, like that of PostgreSQL, so it does not go through lib/egress
 * (ARCHITECTURE.md says why).
 */
export function sesClient(config: Config): SESv2Client {
  const { SES_REGION: region, SES_ENDPOINT: endpoint, SES_ACCESS_KEY_ID: id, SES_SECRET_ACCESS_KEY: secret } = config;
  return new SESv2Client({
    region: region!,
    ...(endpoint ? { endpoint } : {}),
    // Without them the SDK looks where AWS puts them: environment, profile, role of the machine or the pod.
    ...(id && secret ? { credentials: { accessKeyId: id, secretAccessKey: secret } } : {}),
    maxAttempts: 1,
    requestHandler: { requestTimeout: TIMEOUT_MS, connectionTimeout: TIMEOUT_MS / 2 },
  });
}

/** A transport that hands whole messages to SES. */
export function sesTransport(client: SESv2Client) {
  return nodemailer.createTransport({ SES: { sesClient: client, SendEmailCommand } } as never);
}

/** What became of a message for which SES did not say that it has taken it. */
export function sesFate(error: unknown): MailFate {
  const {
    name = '',
    code = '',
    $metadata,
  } = error as {
    name?: string;
    code?: string;
    $metadata?: { httpStatusCode?: number };
  };
  if (NEVER.has(name)) return 'never';
  if (NOT_CONNECTED.has(code)) return 'later';
  const status = $metadata?.httpStatusCode;
  // Refused by an answer: throttled, no credentials, sending paused. All of them pass, or are mended.
  if (status !== undefined && status >= 400 && status < 500) return 'later';
  return 'unknown';
}

/**
 * Asks SES for the account, which needs credentials that work, and sends nothing.
 * @throws Error when they do not, or when sending is switched off
 */
export async function askSes(config: Config): Promise<void> {
  const client = sesClient(config);
  try {
    const { SendingEnabled: isEnabled } = await client.send(new GetAccountCommand({}));
    if (isEnabled === false) throw new Error('sending is switched off for this account at SES');
  } finally {
    client.destroy();
  }
}
