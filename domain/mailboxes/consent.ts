import { json } from '../../db/connection.ts';
import type { StoredActor } from '../../db/json-columns.ts';
import type { Row } from '../../db/rows.ts';
import { DAY_MS, MINUTE_MS } from '../../lib/clock.ts';
import { codeChallenge, newSecret, sha256 } from '../../lib/crypto.ts';
import { AppError, notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { SEAL_PLACES } from '../../lib/seal-places.ts';
import type { Actor } from '../platform/kernel/actor.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader, transact } from '../platform/kernel/transact.ts';
import { requireProvider, type ConsentProvider } from '../sending/senders/mail-providers.ts';
import { assertNoTestWorkspace } from '../platform/test-workspace.ts';
import { assertReconnectable } from './allowance.ts';
import { getMailbox, type MailboxDetail } from './read.ts';
import { message } from '../../messages/index.ts';
import type { StoredIssue } from '../../db/json-columns.ts';

/** Time (ms) within which the person must give consent. */
const CONSENT_MS = 15 * MINUTE_MS;
/** Time (ms) after expiry during which the result can still be requested. */
const CONSENT_TTL_MS = DAY_MS;

export type ConsentRow = Row<'mailbox_consents'>;

/** Encrypted part of a consent before the provider has answered. */
export interface ConsentSecrets {
  verifier: string;
  nonce: string;
}

/** Result of starting a consent. */
export interface StartedConsent {
  /** URL at the provider where a person consents. */
  url: string;
  /** Secret with which the client requests the result of the consent. */
  session: string;
  expiresInMs: number;
}

/** Result of a consent. */
export interface ConsentResult {
  status: 'pending' | 'done' | 'failed';
  provider: ConsentProvider;
  mailbox: MailboxDetail | null;
  error: StoredIssue | null;
}

/** Returns the URL to which the provider redirects the browser. */
export function consentCallback(appUrl: string): string {
  return `${appUrl}/mailboxes/consent`;
}

/**
 * Starts connecting a mailbox by OAuth consent. Returns the URL at which a person consents, and a secret for requesting
 * the result. State, nonce and PKCE ensure that the provider's response belongs to this consent.
 * @throws AppError mailbox_provider_not_configured, mailbox_allowance_reached, forbidden
 */
export async function startConsent(ctx: Ctx, name: ConsentProvider): Promise<StartedConsent> {
  const provider = requireProvider(ctx.config, name);
  const [session, state, verifier, nonce] = [newSecret(), newSecret(), newSecret(), newSecret()] as const;
  await transact(ctx, async (tx) => {
    await assertNoTestWorkspace(tx.org);
    await assertReconnectable(tx.org, name);
    await tx.org
      .table('mailbox_consents')
      .where('expires_at', '<', new Date(tx.now.getTime() - CONSENT_TTL_MS))
      .delete();
    const id = newId();
    await tx.org.insert('mailbox_consents', {
      id,
      provider: name,
      session_hash: sha256(session),
      state_hash: sha256(state),
      sealed: ctx.keyring.seal(
        JSON.stringify({ verifier, nonce } satisfies ConsentSecrets),
        SEAL_PLACES.mailboxConsent(id),
      ),
      actor: json(storedActor(ctx.actor)),
      created_at: tx.now,
      expires_at: new Date(tx.now.getTime() + CONSENT_MS),
    });
  });
  const url = new URL(provider.authorize);
  const parameters = {
    ...provider.parameters,
    response_type: 'code',
    client_id: provider.clientId,
    redirect_uri: consentCallback(ctx.config.APP_URL),
    scope: provider.scopes,
    state,
    nonce,
    code_challenge: codeChallenge(verifier),
    code_challenge_method: 'S256',
  };
  for (const [key, value] of Object.entries(parameters)) url.searchParams.set(key, value);
  return { url: url.href, session, expiresInMs: CONSENT_MS };
}

/**
 * Returns the result of a consent.
 * @throws AppError not_found for a session that this workspace does not have, mailbox_consent_expired if the consent
 * has expired
 */
export async function readConsent(ctx: Ctx, session: string): Promise<ConsentResult> {
  const [row] = await reader(ctx).sql<ConsentRow>(
    `select * from mailbox_consents where organization_id = :org and session_hash = :hash`,
    { hash: sha256(session) },
  );
  if (!row) throw notFound('consent');
  const { provider } = row;
  if (row.status === 'failed') {
    const error = {
      code: row.error_code ?? 'bad_request',
      message: row.error_message!,
      fix: message('consents.expired.fix'),
    };
    return { status: 'failed', provider, mailbox: null, error };
  }
  if (row.status === 'done') {
    const mailbox = row.mailbox_id === null ? null : await getMailbox(ctx, row.mailbox_id);
    return { status: 'done', provider, mailbox, error: null };
  }
  if (row.expires_at <= ctx.clock.now()) {
    throw new AppError('mailbox_consent_expired', message('consents.expired'), {
      fix: message('consents.expired.fix'),
    });
  }
  return { status: 'pending', provider, mailbox: null, error: null };
}

function storedActor(actor: Actor): StoredActor {
  return {
    kind: actor.kind as StoredActor['kind'],
    userId: actor.userId,
    allowedMailboxes: actor.allowedMailboxes,
    ...(actor.sessionId ? { sessionId: actor.sessionId } : {}),
    ...(actor.apiKeyId ? { apiKeyId: actor.apiKeyId } : {}),
    ...(actor.oauthGrantId ? { oauthGrantId: actor.oauthGrantId } : {}),
  };
}
