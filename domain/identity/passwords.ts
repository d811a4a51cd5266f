import { hashPassword, newSecret, verifyPassword } from '../../lib/crypto.ts';
import { badRequest, type Problem } from '../../lib/errors.ts';

/** Shortest and longest password accepted for an account, in characters. */
export const PASSWORD_LENGTH = { min: 10, max: 200 } as const;
const MIN_DISTINCT = 5;

let unusable: Promise<string> | undefined;

/**
 * Whether a password is the account's. An unknown account costs the same argon2id work as a wrong password, so the time
 * of the answer does not say which addresses have accounts.
 */
export async function passwordFits(account: { password_hash: string } | undefined, password: string): Promise<boolean> {
  unusable ??= hashPassword(newSecret());
  const fits = await verifyPassword(account?.password_hash ?? (await unusable), password);
  return account !== undefined && fits;
}

/**
 * Refuses passwords that attackers try first.
 * @throws AppError bad_request naming the body field `field`
 */
export function assertStrong(password: string, email: string, field = 'password'): void {
  const problems = passwordProblems(password, email, field);
  if (problems.length > 0) throw badRequest('The password is too weak', problems);
}

/**
 * What makes a new password weak; empty when nothing does.
 * @param email undefined where it is not known whose password it will be
 */
export function passwordProblems(
  password: string | undefined,
  email: string | undefined,
  field = 'password',
): Problem[] {
  const message = password === undefined ? undefined : weakness(password, email);
  return message === undefined ? [] : [{ path: `body.${field}`, message }];
}

function weakness(password: string, email: string | undefined): string | undefined {
  if (password.length < PASSWORD_LENGTH.min) return `At least ${PASSWORD_LENGTH.min} characters`;
  if (password.length > PASSWORD_LENGTH.max) return `At most ${PASSWORD_LENGTH.max} characters`;
  if (new Set(password).size < MIN_DISTINCT) return `At least ${MIN_DISTINCT} different characters`;
  const lower = password.toLowerCase();
  if (email !== undefined && (lower.includes(email) || email.startsWith(`${lower}@`)))
    return 'Must not be the email address';
  return undefined;
}
