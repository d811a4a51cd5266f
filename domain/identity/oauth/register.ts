import { across } from '../../../db/across.ts';
import { newSecret, SECRET_PREFIX } from '../../../lib/crypto.ts';
import type { Problem } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { toSource } from '../../../lib/source.ts';
import { throttle } from '../throttle.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import type { Client } from './clients.ts';
import { OAuthError } from './errors.ts';
import { nameProblem, webUrlProblem } from './input.ts';
import { redirectUriProblem } from './redirect-uris.ts';
import { readScopeText, SELF_REGISTERED_MAX } from '../scopes.ts';
import { message } from '../../../messages/index.ts';

const UNNAMED = 'Unnamed application';

/** Maximum length (characters) of a stored name. A longer name is shortened. */
const MAX_NAME = 255;

/**
 * Client metadata of RFC 7591 that is read. Null is treated as omitted. Other fields are ignored, as the RFC requires.
 */
interface ClientMetadata {
  client_name?: string | null | undefined;
  redirect_uris: string[];
  scope?: string | null | undefined;
  client_uri?: string | null | undefined;
  logo_uri?: string | null | undefined;
}

/**
 * Registers a client at its own request (POST /oauth/register; RFC 7591). It becomes a public client, which can do
 * nothing before a person approves it. Unsupported metadata is replaced, and the response contains the values that were
 * stored. Scopes that such clients cannot have are omitted. If no scope remains, the client may request all scopes that
 * such clients can have.
 * @throws OAuthError invalid_redirect_uri (every URI at once); AppError rate_limit_exceeded
 */
export async function registerClient(ctx: Ctx, metadata: ClientMetadata): Promise<Client & { created_at: Date }> {
  await throttle(ctx, 'client_registrations', toSource(ctx.actor.ipAddress), ctx.config.OAUTH_REGISTRATIONS_PER_HOUR);
  const problems: Problem[] = metadata.redirect_uris.flatMap((uri, index) => {
    const fault = redirectUriProblem(uri, { privateUse: true });
    return fault ? [{ path: `body.redirect_uris.${index}`, message: fault }] : [];
  });
  if (problems.length > 0) throw new OAuthError('invalid_redirect_uri', message('oauth.unregistrable'), { problems });
  const now = ctx.clock.now();
  const row = {
    id: newId(),
    organization_id: null,
    client_id: newSecret(SECRET_PREFIX.clientId),
    client_secret_hash: null,
    self_registered: true,
    name: shownName(metadata.client_name ?? ''),
    description: '',
    logo_url: shownUrl(metadata.logo_uri ?? ''),
    website_url: shownUrl(metadata.client_uri ?? ''),
    redirect_uris: [...new Set(metadata.redirect_uris)],
    scopes: readScopeText(metadata.scope ?? '').mask & SELF_REGISTERED_MAX || SELF_REGISTERED_MAX,
    created_at: now,
    updated_at: now,
  };
  await across(ctx.db, 'application').insert('oauth_applications', row);
  ctx.log.info({ applicationId: row.id }, 'client registered itself');
  return row;
}

/** Returns a name for the consent page, without characters that hide or reverse text. */
function shownName(name: string): string {
  const shown = name
    .replace(/\p{C}+/gu, ' ')
    .trim()
    .slice(0, MAX_NAME)
    .trim();
  return nameProblem(shown) ? UNNAMED : shown;
}

/** Returns a URL if it may appear on a consent page. Otherwise returns an empty text. */
function shownUrl(url: string): string {
  return webUrlProblem(url) ? '' : url;
}
