import { SESv2Client, GetAccountCommand, SendEmailCommand } from '@aws-sdk/client-sesv2';
import nodemailer from 'nodemailer';
import type { Config } from '../config/index.ts';
import type { MailFate } from './fate.ts';

/** Timeout (ms) of a request to SES. */
const TIMEOUT_MS = 20_000;

/** Errors of SES that would occur again if the same message were sent again. */
const NEVER = new Set([
  'BadRequestException',
  'MessageRejected',
  'MailFromDomainNotVerifiedException',
  'NotFoundException',
]);
/** Error codes of a connection that was never established, so that nothing was accepted. */
const NOT_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/**
 * Creates the client of Amazon SES (v2) for system mail. Each request is tried once, because a message may have been
 * accepted although its answer was lost. The operator sets its address, so requests do not go through lib/egress
 * (ARCHITECTURE.md explains why).
 */
export function sesClient(config: Config): SESv2Client {
  const { SES_REGION: region, SES_ENDPOINT: endpoint, SES_ACCESS_KEY_ID: id, SES_SECRET_ACCESS_KEY: secret } = config;
  return new SESv2Client({
    region: region!,
    ...(endpoint ? { endpoint } : {}),
    // Without explicit keys the SDK searches the AWS sources: environment, profile, role of the machine or pod.
    ...(id && secret ? { credentials: { accessKeyId: id, secretAccessKey: secret } } : {}),
    maxAttempts: 1,
    requestHandler: { requestTimeout: TIMEOUT_MS, connectionTimeout: TIMEOUT_MS / 2 },
  });
}

/** Creates a transport that submits whole messages to SES. */
export function sesTransport(client: SESv2Client) {
  return nodemailer.createTransport({ SES: { sesClient: client, SendEmailCommand } } as never);
}

/** Returns the outcome of a message that SES did not confirm. */
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
  // SES refused the request, for example because of throttling, missing credentials or paused sending. These causes are
  // temporary or can be fixed.
  if (status !== undefined && status >= 400 && status < 500) return 'later';
  return 'unknown';
}

/**
 * Queries the account at SES, to check the credentials. Sends no message.
 * @throws Error when the credentials fail, or when sending is disabled
 */
export async function verifySes(config: Config): Promise<void> {
  const client = sesClient(config);
  try {
    const { SendingEnabled: isEnabled } = await client.send(new GetAccountCommand({}));
    if (isEnabled === false) throw new Error('sending is switched off for this account at SES');
  } finally {
    client.destroy();
  }
}
