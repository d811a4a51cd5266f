import { across } from '../../../db/across.ts';
import { sha256 } from '../../../lib/crypto.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { assertAuthentic, isClientId, readClientCredentials } from './clients.ts';
import { OAuthError } from './errors.ts';
import { endGrant } from './grants.ts';
import { message } from '../../../messages/index.ts';

interface Found {
  client_secret_hash: string | null;
  application_id: string;
  /** Grant of the token. Null if no such token was issued to the client. */
  grant_id: string | null;
  organization_id: string;
}

/**
 * Handles the revocation endpoint (RFC 7009): ends the grant to which an access or refresh token belongs, with all
 * tokens of the grant. An unknown token, or one of another client, changes nothing and gets the same response.
 * @throws OAuthError invalid_request, invalid_client
 */
export async function revokeToken(
  ctx: Ctx,
  form: { token?: string | undefined; client_id?: string | undefined; client_secret?: string | undefined },
  authorization: string | undefined,
): Promise<void> {
  const credentials = readClientCredentials(authorization, form);
  if (form.token === undefined)
    throw new OAuthError('invalid_request', message('oauth.missing', { parameters: 'token' }));
  const found = isClientId(credentials.clientId) ? await find(ctx, credentials.clientId, form.token) : undefined;
  assertAuthentic(found, credentials);
  const { grant_id: id, application_id: applicationId, organization_id: organizationId } = found;
  if (id === null) return;
  await transact({ ...ctx, actor: { ...ctx.actor, organizationId } }, (tx) =>
    endGrant(tx, { id, applicationId }, 'application'),
  );
}

async function find({ db }: Ctx, clientId: string, token: string): Promise<Found | undefined> {
  const [found] = await across(db, 'credential').sql<Found>(
    `select a.id as application_id, a.client_secret_hash, g.id as grant_id, g.organization_id
     from oauth_applications a
     left join oauth_tokens t on t.token_hash = :hash
     left join oauth_grants g on g.id = t.grant_id and g.application_id = a.id
     where a.client_id = :clientId`,
    { clientId, hash: sha256(token) },
  );
  return found;
}
