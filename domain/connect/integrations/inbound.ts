import { across } from '../../../db/across.ts';
import { sha256 } from '../../../lib/crypto.ts';
import { message, type Message } from '../../../messages/index.ts';
import { newId } from '../../../lib/ids.ts';
import { addDeadLetter, INTEGRATION_WEBHOOK } from '../../platform/dead-letters.ts';
import { AppError, notFound } from '../../../lib/errors.ts';
import { systemCtx, type Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { recordMeeting } from '../../crm/meetings/record.ts';
import { openSigningSecret, type ConnectionRow } from './account.ts';
import { Refused, type Provider } from './providers/provider.ts';
import { findProvider } from './registry.ts';

/** A received webhook. */
interface InboundWebhook {
  /** The secret in the URL. */
  token: string;
  headers: Readonly<Record<string, string | undefined>>;
  rawBody: Buffer;
}

/**
 * Receives a webhook of a scheduling provider. The token in the URL identifies the connection, the signature is
 * verified over the raw body, and each body is processed once.
 * @returns the result; `duplicate`, `ignored` and `stale` changed nothing, `kept` is an unreadable body
 * @throws AppError not_found for an unknown URL, unauthorized for a signature that is invalid or too old
 */
export async function receiveBooking(anonymous: Ctx, { token, headers, rawBody }: InboundWebhook): Promise<string> {
  const [connection] = await across(anonymous.db, 'credential').sql<ConnectionRow>(
    'select * from integration_connections where inbound_hash = :hash',
    { hash: sha256(token) },
  );
  const provider = connection && findProvider(connection.provider);
  if (!connection || !provider?.inbound) throw notFound('webhook');
  const secret = openSigningSecret(anonymous.keyring, connection);
  const now = anonymous.clock.now();
  if (!secret || !provider.inbound.verify({ headers, rawBody, secret, now }))
    throw new AppError('unauthorized', message('connect.inbound_signature', { provider: provider.name }));
  const ctx = systemCtx(anonymous, connection.organization_id, anonymous.requestId);
  return transact(ctx, async (tx) => {
    const digest = sha256(rawBody);
    const [first] = await tx.org.sql(
      `insert into integration_inbound (connection_id, digest, organization_id, received_at)
       select c.id, :digest, :org, :now from integration_connections c where c.organization_id = :org and c.id = :id
       on conflict do nothing returning digest`,
      { id: connection.id, digest, now: tx.now },
    );
    if (!first) return 'duplicate';
    try {
      return await recordBooking(tx, connection, provider, rawBody);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      await storeUnparsed(tx, connection, digest, rawBody, error.said);
      return 'kept';
    }
  });
}

/** Keeps a correctly signed body that Heron cannot read, with a dead letter, so that the booking is not lost. */
async function storeUnparsed(
  tx: Tx,
  { id, provider }: ConnectionRow,
  digest: string,
  body: Buffer,
  why: Message,
): Promise<void> {
  const unreadId = newId();
  await tx.org.sql(
    `update integration_inbound set unread_id = :unread, unread_body = :body
     where organization_id = :org and connection_id = :id and digest = :digest`,
    { id, digest, unread: unreadId, body: body.toString('base64') },
  );
  await addDeadLetter(tx, {
    taskId: unreadId,
    taskType: INTEGRATION_WEBHOOK,
    payload: { connection_id: id, provider },
    error: why,
    attempts: 1,
    maxAttempts: 0,
    nextRetryAt: null,
  });
}

/**
 * Parses a kept webhook again.
 * @throws AppError unprocessable if it is still unreadable
 */
export async function parseStoredWebhook(tx: Tx, unreadId: string): Promise<void> {
  const [kept] = await tx.org.sql<ConnectionRow & { digest: string; unread_body: string }>(
    `select c.*, i.digest, i.unread_body from integration_inbound i join integration_connections c on c.id = i.connection_id
     where i.organization_id = :org and i.unread_id = :id for update of i`,
    { id: unreadId },
  );
  const provider = kept && findProvider(kept.provider);
  if (!kept || !provider?.inbound) return;
  try {
    await recordBooking(tx, kept, provider, Buffer.from(kept.unread_body, 'base64'));
  } catch (error) {
    if (error instanceof Refused) throw new AppError('unprocessable', error.said);
    throw error;
  }
  await tx.org.sql(
    `update integration_inbound set unread_id = null, unread_body = null
     where organization_id = :org and connection_id = :id and digest = :digest`,
    { id: kept.id, digest: kept.digest },
  );
}

/** Stores the booking in a verified body. @throws Refused if the body cannot be read */
async function recordBooking(tx: Tx, connection: ConnectionRow, provider: Provider, rawBody: Buffer): Promise<string> {
  const news = provider.inbound!.readBooking(parsed(rawBody));
  if (!news) return 'ignored';
  const source = provider.id as 'calendly' | 'cal_com';
  return recordMeeting(tx, { source, connectionId: connection.id }, news);
}

function parsed(rawBody: Buffer): unknown {
  try {
    return JSON.parse(rawBody.toString('utf8'));
  } catch {
    throw new Refused(message('connect.inbound_no_json'));
  }
}
