import { across } from '../../../db/across.ts';
import { json } from '../../../db/connection.ts';
import type { Row } from '../../../db/rows.ts';
import { MINUTE_MS } from '../../../lib/clock.ts';
import { codeChallenge, newSecret, sha256 } from '../../../lib/crypto.ts';
import { AppError, badRequest, refuseProblems, type Problem } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { SEAL_PLACES } from '../../../lib/seal-places.ts';
import { message } from '../../../messages/index.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { singleStatement, reader, transact } from '../../platform/kernel/transact.ts';
import { assertOwnWorkspaceStays } from '../../platform/workspace-deletion.ts';
import { newSigningSecret, sealCredentials, tokenEnd, type ConnectionRow } from './account.ts';
import { openCall } from './call.ts';
import { asAppErrors, requireConnection, insertConnection, renewConnection } from './connections.ts';
import { Refused, type Provider, type ProviderAccount, type TokenFields } from './providers/provider.ts';
import { findProvider, providerOf } from './registry.ts';
import { accountBase, requestProviderTokens, requireClient, tokensIn, type OAuthClient } from './tokens.ts';

/** Time (ms) within which a person must consent. */
const CONSENT_MS = 15 * MINUTE_MS;
/** Path below API_PUBLIC_URL to which providers redirect people. */
export const CALLBACK_PATH = '/integrations/oauth/callback';

type StateRow = Row<'integration_oauth_states'>;

/** Request of a person who begins to connect an account. */
interface ConsentInput {
  provider?: string | undefined;
  label?: string | undefined;
  /** Id of the connection to reauthorize. */
  connection_id?: string | undefined;
}

/** Lists format errors of a consent request. */
export function consentProblems({ provider: id }: ConsentInput): Problem[] {
  const provider = id === undefined ? undefined : findProvider(id);
  if (id !== undefined && !provider) return [{ path: 'body.provider', message: message('connect.unknown_provider') }];
  if (provider && !provider.oauth) return [{ path: 'body.provider', message: message('connect.provider_by_key') }];
  return [];
}

/**
 * Starts to connect an account by OAuth consent, and returns the provider's consent URL. The callback is refused unless
 * the same person is signed in.
 * @throws AppError bad_request, not_found for a connection, service_unavailable if the installation has no client
 */
export async function startProviderConsent(
  ctx: Ctx,
  input: ConsentInput & { provider: string },
): Promise<{ url: string; expiresAt: Date }> {
  refuseProblems(consentProblems(input));
  const provider = findProvider(input.provider)!;
  const client = requireClient(ctx.config, provider);
  const [state, verifier] = [newSecret(), newSecret()];
  const expiresAt = await transact(ctx, async (tx) => {
    const existing = input.connection_id ? await requireConnection(tx.org, input.connection_id) : undefined;
    if (existing && existing.provider !== provider.id)
      refuseProblems([
        { path: 'body.connection_id', message: message('connect.connection_of', { provider: existing.provider }) },
      ]);
    const id = newId();
    const expires = new Date(tx.now.getTime() + CONSENT_MS);
    await tx.org.insert('integration_oauth_states', {
      id,
      provider: provider.id,
      state_hash: sha256(state),
      session_id: ctx.actor.sessionId ?? '',
      connection_id: existing?.id ?? null,
      label: input.label ?? '',
      sealed: ctx.keyring.seal(verifier, SEAL_PLACES.integrationState(id)),
      actor: json({ kind: 'session', userId: ctx.actor.userId, allowedMailboxes: null }),
      created_at: tx.now,
      expires_at: expires,
    });
    return expires;
  });
  return { url: authorizationUrl(ctx, client, { state, verifier }), expiresAt };
}

function authorizationUrl(ctx: Ctx, client: OAuthClient, secrets: { state: string; verifier: string }): string {
  const { oauth, clientId, authorizeUrl } = client;
  const url = new URL(authorizeUrl);
  const parameters: Record<string, string> = {
    ...oauth.parameters,
    response_type: 'code',
    client_id: clientId,
    redirect_uri: callbackOf(ctx),
    state: secrets.state,
    ...(oauth.scopes.length > 0 ? { scope: oauth.scopes.join(oauth.scopeSeparator ?? ' ') } : {}),
    ...(oauth.pkce
      ? {
          code_challenge: codeChallenge(secrets.verifier),
          code_challenge_method: 'S256',
        }
      : {}),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

function callbackOf({ config }: Pick<Ctx, 'config'>): string {
  return `${config.API_PUBLIC_URL}${CALLBACK_PATH}`;
}

/** Parameters of the provider's redirect: a code, or an error. */
interface ConsentReturn {
  state: string;
  code: string;
  error: string;
}

/**
 * Handles the provider's redirect: exchanges the code, reads the account, and stores the connection. A state is valid
 * once, for 15 minutes, and only for the person who requested it.
 * @param ctx context of the person who is signed in to the browser
 * @throws AppError unauthorized when nobody is signed in, forbidden for another person, not_found for an expired or
 * used state, bad_request with the provider's message, workspace_deletion_scheduled, service_unavailable
 */
export async function finishProviderConsent(ctx: Ctx, { state, code, error }: ConsentReturn): Promise<ConnectionRow> {
  const row = await findState(ctx, state);
  if (ctx.actor.kind === 'anonymous')
    throw new AppError('unauthorized', message('connect.consent_sign_in'), {
      fix: message('connect.consent_sign_in.fix'),
    });
  if (row.actor.userId !== ctx.actor.userId) throw new AppError('forbidden', message('connect.consent_of_other'));
  const own: Ctx = { ...ctx, actor: { ...ctx.actor, organizationId: row.organization_id } };
  await assertMember(own);
  await claimState(own, row);
  const provider = providerOf(row);
  if (error || !code) {
    const reason = /^\w{1,60}$/.test(error) ? error : message('connect.consent_no_code');
    throw badRequest(message('connect.consent_refused', { provider: provider.name, code: reason }));
  }
  const verifier = ctx.keyring.open(row.sealed, SEAL_PLACES.integrationState(row.id)).toString('utf8');
  return asAppErrors(provider, 'query.code', async () => {
    const client = requireClient(ctx.config, provider);
    const fields = await requestProviderTokens(ctx, provider, client, {
      grant_type: 'authorization_code',
      code,
      redirect_uri: callbackOf(ctx),
      ...(client.oauth.pkce ? { code_verifier: verifier } : {}),
    });
    const accessToken = String(fields.access_token);
    const apiBase = accountBase(client, fields);
    if (apiBase === null) throw new Refused(message('connect.foreign_base', { provider: provider.name }));
    const call = openCall(own, provider, { apiBase: apiBase ?? null, accessToken: async () => accessToken });
    const account = await client.oauth.readAccount(call, fields);
    return storeConsent(own, row, { provider, client, fields, account, apiBase: apiBase ?? null });
  });
}

async function findState(ctx: Ctx, state: string): Promise<StateRow> {
  const [row] = await across(ctx.db, 'credential').sql<StateRow>(
    'select * from integration_oauth_states where state_hash = :hash and used_at is null and expires_at > :now',
    { hash: sha256(state), now: ctx.clock.now() },
  );
  if (!row) throw consentOverError();
  return row;
}

/** Marks a state as used, so that only one of two concurrent callbacks with the same state continues. */
async function claimState(ctx: Ctx, { id }: StateRow): Promise<void> {
  const [taken] = await singleStatement(ctx).sql(
    'update integration_oauth_states set used_at = :now where organization_id = :org and id = :id and used_at is null returning id',
    { id, now: ctx.clock.now() },
  );
  if (!taken) throw consentOverError();
}

function consentOverError(): AppError {
  return new AppError('not_found', message('connect.consent_over'), {
    fix: message('connect.consent_over.fix'),
  });
}

/** Checks that the person may still connect accounts in the workspace. */
async function assertMember(ctx: Ctx): Promise<void> {
  const [row] = await reader(ctx).sql<{ allowed: boolean }>(
    `select (r.is_owner or 'manage_settings' = any(r.permissions)) as allowed
     from memberships m join roles r on r.id = m.role_id where m.organization_id = :org and m.user_id = :user`,
    { user: ctx.actor.userId },
  );
  if (!row?.allowed) throw new AppError('forbidden', message('connect.consent_not_allowed'));
}

interface ProviderConsent {
  provider: Provider;
  client: OAuthClient;
  fields: TokenFields;
  account: ProviderAccount;
  apiBase: string | null;
}

async function storeConsent(ctx: Ctx, state: StateRow, given: ProviderConsent): Promise<ConnectionRow> {
  const { provider, fields, account, apiBase } = given;
  const id = state.connection_id ?? newId();
  const sealed = sealCredentials(ctx.keyring, id, tokensIn(fields));
  const scopes = grantedScopes(given);
  return transact(ctx, async (tx) => {
    await assertOwnWorkspaceStays(tx);
    const tokenEnds = tokenEnd(fields, tx.now);
    if (!state.connection_id) {
      const signing = provider.inbound ? newSigningSecret(ctx.keyring, id).sealed : null;
      return insertConnection(ctx, tx, {
        id,
        provider,
        label: state.label,
        account,
        sealed,
        tokenEnds,
        scopes,
        apiBase,
        signing,
        inbound: null,
      });
    }
    return renewConnection(tx, id, { account, sealed, tokenEnds, scopes, apiBase });
  });
}

function grantedScopes({ client: { oauth }, fields }: ProviderConsent): string[] {
  if (oauth.scopesIn) return [...oauth.scopesIn(fields)];
  const { scope } = fields;
  return typeof scope === 'string' ? scope.split(/[\s,]+/).filter(Boolean) : [...oauth.scopes];
}
