import type { OpenCredential } from '../../../domain/identity/credential-state.ts';
import type { Caller } from '../../../domain/identity/resolve-actor.ts';
import { may } from '../../../domain/platform/kernel/actor.ts';
import type { Config } from '../../../lib/config/index.ts';
import { sha256 } from '../../../lib/crypto.ts';
import { AppError } from '../../../lib/errors.ts';
import { ORG_PERMISSIONS } from '../../../lib/permissions.ts';
import { toSource } from '../../../lib/source.ts';
import { countKeyRequest } from '../../http/rate-limit.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { message } from '../../../messages/index.ts';

/** Origin of a socket: IP address and user agent of the client. */
export interface SocketOrigin {
  ipAddress: string;
  userAgent: string;
}

/**
 * Resolves a credential to its caller, if that caller may subscribe.
 * @throws AppError unauthorized, forbidden, no_organization, rate_limit_exceeded
 */
export async function admitCaller(
  { actors, limiter }: Pick<GatewayParts, 'actors' | 'limiter'>,
  token: string,
  origin: SocketOrigin,
): Promise<Caller> {
  const caller = await actors.resolve(token, origin);
  await countKeyRequest(limiter, caller);
  if (!caller.actor.organizationId) {
    throw new AppError('no_organization', message('access.no_workspace'), {
      fix: message('access.no_workspace.fix'),
    });
  }
  if (!may(caller.actor, ['REALTIME_SUBSCRIBE'], ORG_PERMISSIONS)) {
    throw new AppError('forbidden', message('realtime.lacks_scope'));
  }
  return caller;
}

/**
 * Returns the part of a caller's credential that is stored, so that it can be checked again while the socket is open.
 */
export function credentialToRecheck(token: string, { actor }: Caller): OpenCredential {
  if (actor.apiKeyId) return { kind: 'api_key', id: actor.apiKeyId };
  if (actor.sessionId) return { kind: 'session', id: actor.sessionId };
  return { kind: 'oauth', id: sha256(token) };
}

type Limits = Pick<Config, 'REALTIME_ORG_CONNECTIONS' | 'REALTIME_KEY_CONNECTIONS'>;

/** Counts the open sockets of each organization and each credential. */
export class SocketCounts {
  readonly #limits: Limits;
  readonly #open = new Map<string, number>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** @throws AppError rate_limit_exceeded when the organization or this credential has too many sockets */
  assertRoom(actor: Caller['actor']): void {
    const [organization, credential] = countedAs(actor);
    if (this.#isFull(organization, this.#limits.REALTIME_ORG_CONNECTIONS))
      throw new AppError('rate_limit_exceeded', message('realtime.workspace_full'));
    if (this.#isFull(credential, this.#limits.REALTIME_KEY_CONNECTIONS))
      throw new AppError('rate_limit_exceeded', message('realtime.credential_full'));
  }

  add(actor: Caller['actor']): void {
    for (const name of countedAs(actor)) this.#open.set(name, (this.#open.get(name) ?? 0) + 1);
  }

  remove(actor: Caller['actor']): void {
    for (const name of countedAs(actor)) {
      const left = (this.#open.get(name) ?? 1) - 1;
      if (left > 0) this.#open.set(name, left);
      else this.#open.delete(name);
    }
  }

  #isFull(name: string, most: number): boolean {
    return most > 0 && (this.#open.get(name) ?? 0) >= most;
  }
}

/** Counts the sockets of each source that have not signed in yet. */
export class PendingCounts {
  readonly #most: number;
  readonly #open = new Map<string, number>();

  /** @param most maximum number of sockets of one source; 0 means unlimited */
  constructor(most: number) {
    this.#most = most;
  }

  /** @throws AppError rate_limit_exceeded */
  assertRoom(ipAddress: string): void {
    if (this.#most > 0 && (this.#open.get(toSource(ipAddress)) ?? 0) >= this.#most)
      throw new AppError('rate_limit_exceeded', message('realtime.address_full'), {
        fix: message('realtime.address_full.fix'),
      });
  }

  /** Counts a socket until the returned function is called. Further calls of that function do nothing. */
  add(ipAddress: string): () => void {
    const source = toSource(ipAddress);
    let isCounted = true;
    this.#open.set(source, (this.#open.get(source) ?? 0) + 1);
    return () => {
      if (!isCounted) return;
      isCounted = false;
      const left = (this.#open.get(source) ?? 1) - 1;
      if (left > 0) this.#open.set(source, left);
      else this.#open.delete(source);
    };
  }
}

function countedAs(actor: Caller['actor']): [organization: string, credential: string] {
  const { kind, organizationId, apiKeyId, oauthGrantId, sessionId } = actor;
  return [`org/${organizationId}`, `${kind}/${apiKeyId ?? oauthGrantId ?? sessionId}`];
}
