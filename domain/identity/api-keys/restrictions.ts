import type { OrgScope } from '../../../db/tenancy.ts';
import type { Problem } from '../../../lib/errors.ts';
import { isDefinedMask } from '../../../lib/permissions.ts';
import { isIpRange, type KeyLimits } from '../../platform/key-limits.ts';
import { idProblems } from '../../platform/references.ts';
import { message } from '../../../messages/index.ts';

/** Permissions and limits of an API key. */
interface Restrictions extends KeyLimits {
  /** Permission mask of lib/permissions.ts. */
  permissions: number;
}

type Given<T> = { [K in keyof T]?: T[K] | undefined };

/**
 * Returns the problems of a key's given restrictions: permission bits, source addresses, unknown mailboxes, an expiry
 * in the past.
 */
export async function restrictionProblems(org: OrgScope, key: Given<Restrictions>, now: Date): Promise<Problem[]> {
  return [
    ...shapeProblems(key),
    ...(key.expires_at && key.expires_at <= now ? [{ path: 'body.expires_at', message: message('field.past') }] : []),
    ...(await idProblems(
      org,
      'mailboxes',
      key.allowed_email_accounts ?? [],
      'body.allowed_email_accounts',
      message('field.no_mailbox'),
    )),
  ];
}

/** Returns the problems of a mask and of source addresses that can be found without the database. */
function shapeProblems(key: Given<Pick<Restrictions, 'permissions' | 'allowed_ips'>>): Problem[] {
  const problems: Problem[] = [];
  if (key.permissions !== undefined && !isDefinedMask(key.permissions)) {
    problems.push({ path: 'body.permissions', message: message('field.permission_bits') });
  }
  key.allowed_ips?.forEach((entry, index) => {
    if (!isIpRange(entry)) problems.push({ path: `body.allowed_ips.${index}`, message: message('field.ip_range') });
  });
  return problems;
}
