import { decodeJwt } from 'jose';
import { across } from '../../db/across.ts';
import type { StoredActor } from '../../db/json-columns.ts';
import { MINUTE_MS } from '../../lib/clock.ts';
import { newSecret, sha256 } from '../../lib/crypto.ts';
import { EgressError } from '../../lib/egress/index.ts';
import { AppError } from '../../lib/errors.ts';
import { SEAL_PLACES } from '../../lib/seal-places.ts';
import { ANONYMOUS, type Actor } from '../platform/kernel/actor.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { singleStatement, reader, transact } from '../platform/kernel/transact.ts';
import { requireProvider, type MailProvider } from '../sending/senders/mail-providers.ts';
import { requestTokens, TokenRefusal, type TokenAnswer } from '../sending/senders/token-request.ts';
import { assertServersWork, recordFacts } from './check.ts';
import { connectConsented } from './connect.ts';
import { consentCallback, type ConsentRow, type ConsentSecrets } from './consent.ts';
import { fetchSendAs } from './send-as.ts';
import { message, type Message } from '../../messages/index.ts';
import { json } from '../../db/connection.ts';

/** Parameters of the redirect from the provider: a code or an error. */
interface ConsentAnswer {
  state: string;
  code: string;
  error: string;
}

/** A consent that was given at the provider, and that the person must still confirm in Heron. */
export interface OfferedConsent {
  /** Secret in the confirmation form that identifies the consent. Only the person's browser has it. */
  secret: string;
  email: string;
  provider: string;
  organization: string;
  /** Name of the person who started the consent, or who owns the key that started it. Empty if unknown. */
  askedBy: string;
}

/** Encrypted part of a consent after the provider has answered. */
interface GivenTokens {
  access_token: string;
  refresh_token: string;
  access_expires_at: string;
}

const REQUEST_MS = 15_000;
const CLOCK_SKEW_MS = 5 * MINUTE_MS;

/**
 * Handles the provider's redirect: exchanges the code for tokens, once. Does not connect the mailbox yet, because
 * another person may have started the consent. A page first shows the consenting person to which workspace the mailbox
 * would be connected.
 * @throws AppError mailbox_consent_expired, mailbox_auth_failed, service_unavailable
 */
export async function receiveConsent(anonymous: Ctx, { state, code, error }: ConsentAnswer): Promise<OfferedConsent> {
  const row = await findConsent(anonymous, state, 'pending', 'exchanging');
  const ctx = await contextOf(anonymous, row);
  if (error || !code) {
    const said = /^\w{1,60}$/.test(error) ? message('consents.refused', { code: error }) : message('consents.no_code');
    throw await fail(ctx, row.id, 'mailbox_auth_failed', said);
  }
  const provider = requireProvider(ctx.config, row.provider);
  const { verifier, nonce } = JSON.parse(
    ctx.keyring.open(row.sealed!, SEAL_PLACES.mailboxConsent(row.id)).toString('utf8'),
  ) as ConsentSecrets;
  const answer = await exchange(ctx, provider, row.id, { code, code_verifier: verifier });
  const email = mailboxIn(answer, provider, nonce, ctx.clock.now());
  if (!email || !answer.refreshToken) {
    throw await fail(
      ctx,
      row.id,
      'mailbox_auth_failed',
      message(email ? 'consents.not_lasting' : 'consents.no_address'),
    );
  }
  const secret = newSecret();
  const tokens: GivenTokens = {
    access_token: answer.accessToken,
    refresh_token: answer.refreshToken,
    access_expires_at: new Date(ctx.clock.now().getTime() + answer.expiresInMs).toISOString(),
  };
  const [offered] = await singleStatement(ctx).sql<{ organization: string; asked_by: string | null }>(
    `with offered as (
       update mailbox_consents set status = 'confirming', state_hash = :hash, email = :email, sealed = :sealed
       where organization_id = :org and id = :id and status = 'exchanging' returning id)
     select o.name as organization, (select nullif(trim(u.first_name || ' ' || u.last_name), '') from users u where u.id = :user) as asked_by
     from organizations o, offered where o.id = :org`,
    {
      id: row.id,
      hash: sha256(secret),
      email,
      user: row.actor.userId,
      sealed: ctx.keyring.seal(JSON.stringify(tokens), SEAL_PLACES.mailboxConsent(row.id)),
    },
  );
  if (!offered) throw expired();
  return {
    secret,
    email,
    provider: provider.title,
    organization: offered.organization,
    askedBy: offered.asked_by ?? '',
  };
}

/**
 * Handles the person's confirmation: a worker signs in to both servers, and the mailbox is connected. The connection is
 * made on behalf of the person or key that started the consent. If no worker responds, the consent can be confirmed
 * again.
 * @throws AppError mailbox_consent_expired, mailbox_auth_failed, mailbox_allowance_reached, forbidden,
 * service_unavailable
 */
export async function confirmConsent(anonymous: Ctx, secret: string): Promise<{ email: string }> {
  const row = await findConsent(anonymous, secret, 'confirming', 'connecting');
  const ctx = await contextOf(anonymous, row);
  const provider = requireProvider(ctx.config, row.provider);
  const given = JSON.parse(
    ctx.keyring.open(row.sealed!, SEAL_PLACES.mailboxConsent(row.id)).toString('utf8'),
  ) as GivenTokens;
  const smtp = { ...provider.smtp, username: row.email };
  const imap = { ...provider.imap, username: row.email };
  const secrets = { password: '', accessToken: given.access_token };
  try {
    const facts = await assertServersWork(ctx, { smtp: { ...smtp, ...secrets }, imap: { ...imap, ...secrets } });
    const sendAs = await fetchSendAs(ctx.egress, provider, given.access_token).catch((error: unknown) => {
      ctx.log.warn({ err: error, consentId: row.id }, 'the addresses to send as could not be read');
      return null;
    });
    await transact(ctx, async (tx) => {
      const { mailbox } = await connectConsented(ctx, tx, {
        email: row.email,
        provider: row.provider,
        smtp,
        imap,
        tokens: { access_token: given.access_token, refresh_token: given.refresh_token },
        accessExpiresAt: new Date(given.access_expires_at),
        sendAs,
      });
      await recordFacts(tx, mailbox.id, facts);
      await tx.org
        .table('mailbox_consents')
        .where({ id: row.id })
        .update({ status: 'done', sealed: null, mailbox_id: mailbox.id });
    });
    return { email: row.email };
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) {
      await singleStatement(ctx).sql(
        `update mailbox_consents set status = 'confirming' where organization_id = :org and id = :id and status = 'connecting'`,
        { id: row.id },
      );
      throw error;
    }
    const [first, second] = (error.problems ?? []).map((problem) => problem.message);
    const problems = first && second ? message('mailboxes.both_said', { first, second }) : first;
    const said = problems ? message('consents.not_connected', { said: error.said, problems }) : (error.said as Message);
    await fail(ctx, row.id, error.code, said);
    throw error;
  }
}

/**
 * Handles a refusal to connect the mailbox to this workspace. Deletes the tokens.
 * @throws AppError mailbox_consent_expired
 */
export async function declineConsent(anonymous: Ctx, secret: string): Promise<void> {
  const row = await findConsent(anonymous, secret, 'confirming', 'connecting');
  await fail(await contextOf(anonymous, row), row.id, 'mailbox_auth_failed', message('consents.declined'));
}

/** Finds a consent by its secret and changes its status in one statement, so that each step happens once. */
async function findConsent(
  ctx: Ctx,
  secret: string,
  from: ConsentRow['status'],
  to: ConsentRow['status'],
): Promise<ConsentRow> {
  const [row] = await across(ctx.db, 'credential').sql<ConsentRow>(
    `update mailbox_consents set status = :to where state_hash = :hash and status = :from and expires_at > :now returning *`,
    { hash: sha256(secret), from, to, now: ctx.clock.now() },
  );
  if (!row) throw expired();
  return row;
}

function expired(): AppError {
  return new AppError('mailbox_consent_expired', message('consents.used'), {
    fix: message('consents.again.fix'),
  });
}

/**
 * Returns a context that acts as the person, API key or application that started the consent, if its access is still
 * valid.
 * @throws AppError forbidden if the access has ended in the meantime
 */
async function contextOf(anonymous: Ctx, row: ConsentRow): Promise<Ctx> {
  const ctx = { ...anonymous, actor: actorOf(row.actor, row.organization_id, anonymous.actor) };
  const org = reader(ctx);
  const { kind, apiKeyId, oauthGrantId, userId } = row.actor;
  const alive =
    kind === 'api_key'
      ? await org.table('api_keys').where({ id: apiKeyId!, status: 'active' }).first('id')
      : kind === 'oauth'
        ? await org.table('oauth_grants').where({ id: oauthGrantId! }).whereNull('revoked_at').first('id')
        : kind === 'session'
          ? await org.table('memberships').where({ user_id: userId! }).first('user_id')
          : true;
  if (alive) return ctx;
  throw await fail(ctx, row.id, 'forbidden', message('consents.credential_revoked'));
}

function actorOf(stored: StoredActor, organizationId: string, visitor: Actor): Actor {
  const { ipAddress, userAgent } = visitor;
  return { ...ANONYMOUS, ...stored, organizationId, ipAddress, userAgent };
}

async function exchange(
  ctx: Ctx,
  provider: MailProvider,
  consentId: string,
  grant: { code: string; code_verifier: string },
): Promise<TokenAnswer> {
  const redirect = consentCallback(ctx.config.APP_URL);
  try {
    return await requestTokens(
      ctx.egress,
      provider,
      { grant_type: 'authorization_code', redirect_uri: redirect, ...grant },
      REQUEST_MS,
    );
  } catch (error) {
    if (error instanceof TokenRefusal)
      throw await fail(
        ctx,
        consentId,
        'mailbox_auth_failed',
        message('consents.code_refused', { reason: error.message }),
      );
    if (error instanceof EgressError)
      throw await fail(ctx, consentId, 'service_unavailable', message('consents.unreachable'));
    throw error;
  }
}

/**
 * Returns the address in an id token. The token came directly from the provider over TLS, so its signature need not be
 * checked (OpenID Connect Core 3.1.3.7). Audience, expiry and nonce ensure that it belongs to this consent.
 */
function mailboxIn({ idToken }: TokenAnswer, provider: MailProvider, nonce: string, now: Date): string | undefined {
  if (!idToken) return undefined;
  let claims: Record<string, unknown>;
  try {
    claims = decodeJwt(idToken);
  } catch {
    return undefined;
  }
  const audience = [claims.aud].flat();
  const ends = Number(claims.exp) * 1000;
  if (!audience.includes(provider.clientId) || claims.nonce !== nonce || !(ends > now.getTime() - CLOCK_SKEW_MS))
    return undefined;
  if (provider.name === 'gmail' && claims.email_verified !== true) return undefined;
  const address = provider.name === 'outlook' ? (claims.preferred_username ?? claims.email) : claims.email;
  return typeof address === 'string' && /^[^\s@]{1,64}@[^\s@]{1,255}$/.test(address)
    ? address.toLowerCase()
    : undefined;
}

/** Marks a consent as failed and deletes its tokens. Returns the error to throw. */
async function fail(ctx: Ctx, id: string, code: AppError['code'], said: Message): Promise<AppError> {
  await singleStatement(ctx).sql(
    `update mailbox_consents set status = 'failed', sealed = null, error_code = :code, error_message = cast(:said as jsonb)
     where organization_id = :org and id = :id and status in ('exchanging', 'connecting')`,
    { id, code, said: json(said) },
  );
  return new AppError(code, said, { fix: message('consents.again.fix') });
}
