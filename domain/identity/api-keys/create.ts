import { created } from '../../platform/changes.ts';
import { ApiKeys, type ApiKeyRow } from '../../../db/models/api-key.ts';
import { newSecret, SECRET_PREFIX, sha256 } from '../../../lib/crypto.ts';
import { badRequest } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { lineageOf } from './lineage.ts';
import { assertActorGrants } from '../acting.ts';
import type { KeyLimits } from '../../platform/key-limits.ts';
import { isTestWorkspace } from '../../platform/test-workspace.ts';
import { restrictionProblems } from './restrictions.ts';
import { message } from '../../../messages/index.ts';

/** Numbers of characters of the secret that lists show: after its prefix, and at its end. */
const SHOWN_FIRST = 2;
const SHOWN_LAST = 4;

interface NewKey {
  name: string;
  description?: string | undefined;
  /** Permission mask of lib/permissions.ts. */
  permissions: number;
  allowed_ips?: string[] | undefined;
  allowed_email_accounts?: string[] | undefined;
  rate_limit_per_minute?: number | undefined;
  expires_at?: Date | null | undefined;
}

/**
 * Creates an API key (POST /api-keys). Only this answer contains the secret: a hash is stored. A key that was created
 * by a key or an application is revoked together with it. The secret of a test workspace begins with `ssk_test_`.
 * @throws AppError bad_request with all problems (undefined permission bits, unusable addresses, foreign mailboxes,
 * past expiry); forbidden when the key would have more rights than the caller
 */
export async function createKey(ctx: Ctx, input: NewKey): Promise<{ key: ApiKeyRow; secret: string }> {
  return transact(ctx, async (tx) => {
    const { permissions } = input;
    const limits = {
      allowed_ips: input.allowed_ips ?? [],
      allowed_email_accounts: input.allowed_email_accounts ?? [],
      expires_at: input.expires_at ?? null,
      rate_limit_per_minute: input.rate_limit_per_minute ?? 0,
    } satisfies KeyLimits;
    const restrictions = { permissions, ...limits };
    const problems = await restrictionProblems(tx.org, restrictions, tx.now);
    if (problems.length > 0) throw badRequest(message('api_key.invalid'), problems);
    await assertActorGrants(tx, ctx.actor, { scopes: permissions, limits });
    const prefix = (await isTestWorkspace(tx.org)) ? SECRET_PREFIX.testApiKey : SECRET_PREFIX.apiKey;
    const secret = newSecret(prefix);
    const key = await tx.org.create(ApiKeys, {
      id: newId(),
      user_id: ctx.actor.userId,
      ...(await lineageOf(tx, ctx.actor)),
      name: input.name,
      description: input.description ?? '',
      secret_hash: sha256(secret),
      key_prefix: secret.slice(0, prefix.length + SHOWN_FIRST),
      key_suffix: secret.slice(-SHOWN_LAST),
      ...restrictions,
      created_at: tx.now,
      updated_at: tx.now,
    });
    tx.audit({
      action: 'create',
      entityType: 'api_key',
      entityId: key.id,
      changes: created({ name: key.name, ...restrictions }),
    });
    return { key, secret };
  });
}
