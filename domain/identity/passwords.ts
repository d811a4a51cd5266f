import { hashPassword, newSecret, verifyPassword } from '../../lib/crypto.ts';
import { badRequest, type Problem } from '../../lib/errors.ts';
import { message, type Message } from '../../messages/index.ts';

/** Minimum and maximum length (characters) of an account's password. */
export const PASSWORD_LENGTH = { min: 10, max: 200 } as const;
const MIN_DISTINCT = 5;

let unusable: Promise<string> | undefined;

/**
 * Returns true if the password matches the account. An unknown account costs the same argon2id work as a wrong
 * password, so the response time does not reveal which addresses have accounts.
 */
export async function isPasswordCorrect(
  account: { password_hash: string } | undefined,
  password: string,
): Promise<boolean> {
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
  if (problems.length > 0) throw badRequest(message('account.weak_password'), problems);
}

/**
 * Returns the problems of a weak new password.
 * @param email address of the account; undefined if not yet known
 */
export function passwordProblems(
  password: string | undefined,
  email: string | undefined,
  field = 'password',
): Problem[] {
  const fault = password === undefined ? undefined : weakness(password, email);
  return fault === undefined ? [] : [{ path: `body.${field}`, message: fault }];
}

function weakness(password: string, email: string | undefined): Message | undefined {
  if (password.length < PASSWORD_LENGTH.min) return message('field.text_shorter', { min: PASSWORD_LENGTH.min });
  if (password.length > PASSWORD_LENGTH.max) return message('field.text_longer', { max: PASSWORD_LENGTH.max });
  if (new Set(password).size < MIN_DISTINCT) return message('field.password_distinct', { min: MIN_DISTINCT });
  const lower = password.toLowerCase();
  if (email !== undefined && (lower.includes(email) || email.startsWith(`${lower}@`)))
    return message('field.password_is_email');
  return undefined;
}
