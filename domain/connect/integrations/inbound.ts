import { across } from '../../../db/across.ts';
import { sha256 } from '../../../lib/crypto.ts';
import { AppError, badRequest, notFound } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import { systemCtx, type Ctx } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { recordMeeting, type MeetingNews } from '../../crm/meetings/record.ts';
import { openSigningSecret, type ConnectionRow } from './account.ts';
import { Refused, type Provider } from './providers/provider.ts';
import { findProvider } from './registry.ts';

/** A webhook as it came. */
interface InboundWebhook {
  /** The secret in the address. */
  token: string;
  headers: Readonly<Record<string, string | undefined>>;
  rawBody: Buffer;
}

/**
 * Takes a webhook of a scheduling provider: the address names the connection, the signature is verified over the bytes of the body, and each body counts once.
 * @returns what it did; `duplicate`, `ignored` and `stale` changed nothing
 * @throws AppError not_found for an address that there is not, unauthorized for a signature that is not the provider's or is too old, bad_request for
 *   a body that cannot be read
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
  const news = readNews(provider, rawBody);
  const ctx = systemCtx(anonymous, connection.organization_id, anonymous.requestId);
  return transact(ctx, async (tx) => {
    const [first] = await tx.org.sql(
      `insert into integration_inbound (connection_id, digest, organization_id, received_at)
       select c.id, :digest, :org, :now from integration_connections c where c.organization_id = :org and c.id = :id
       on conflict do nothing returning digest`,
      { id: connection.id, digest: sha256(rawBody), now: tx.now },
    );
    if (!first) return 'duplicate';
    if (!news) return 'ignored';
    const source = provider.id as 'calendly' | 'cal_com';
    return recordMeeting(tx, { source, connectionId: connection.id }, news);
  });
}

/** What a verified body speaks of. @throws AppError bad_request */
function readNews(provider: Provider, rawBody: Buffer): MeetingNews | undefined {
  try {
    return provider.inbound!.readBooking(JSON.parse(rawBody.toString('utf8')));
  } catch (error) {
    if (error instanceof Refused) throw badRequest(error.said);
    if (error instanceof SyntaxError) throw badRequest(message('connect.inbound_no_json'));
    throw error;
  }
}
