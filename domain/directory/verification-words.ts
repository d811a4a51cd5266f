import { AppError, type Problem } from '../../lib/errors.ts';
import { message } from '../../messages/index.ts';

/** Verdict on an address, as stored. */
export type VerificationStatus = 'valid' | 'risky' | 'invalid' | 'unknown';

/** Words that known verification services use for their verdicts, each with the verdict that is stored. */
export const VERDICT_WORDS = {
  heron: { valid: 'valid', risky: 'risky', invalid: 'invalid', unknown: 'unknown' },
  zerobounce: {
    valid: 'valid',
    invalid: 'invalid',
    'catch-all': 'risky',
    unknown: 'unknown',
    // Stored as `invalid`, because mail to a spam trap is delivered but harms the sender's reputation.
    spamtrap: 'invalid',
    abuse: 'risky',
    do_not_mail: 'risky',
  },
  neverbounce: { valid: 'valid', invalid: 'invalid', catchall: 'risky', disposable: 'risky', unknown: 'unknown' },
  millionverifier: {
    ok: 'valid',
    catch_all: 'risky',
    disposable: 'risky',
    invalid: 'invalid',
    error: 'unknown',
    unknown: 'unknown',
  },
  hunter: {
    valid: 'valid',
    accept_all: 'risky',
    disposable: 'risky',
    invalid: 'invalid',
    webmail: 'unknown',
    unknown: 'unknown',
  },
  kickbox: { deliverable: 'valid', risky: 'risky', undeliverable: 'invalid', unknown: 'unknown' },
  bouncer: { deliverable: 'valid', risky: 'risky', undeliverable: 'invalid', unknown: 'unknown' },
  emailable: { deliverable: 'valid', risky: 'risky', undeliverable: 'invalid', unknown: 'unknown' },
} as const satisfies Record<string, Record<string, VerificationStatus>>;

/**
 * A verdict as a client states it, in the words of a verification service. Without a provider, the words of all known
 * services are accepted.
 */
export interface StatedVerdict {
  verification_status?: string | undefined;
  verification_provider?: string | undefined;
}

const PROVIDERS = Object.keys(VERDICT_WORDS);
const WORDS = new Map<string, ReadonlyMap<string, VerificationStatus>>(
  Object.entries(VERDICT_WORDS).map(([provider, words]) => [provider, wordMap(words)]),
);
const ANY = new Map([...WORDS.values()].flatMap((words) => [...words]));

function wordMap(words: Record<string, VerificationStatus>): Map<string, VerificationStatus> {
  return new Map(Object.entries(words).map(([word, status]) => [plainWord(word), status]));
}

/** Normalizes the word of a service: `Catch-All` becomes `catch_all`. */
function plainWord(word: string): string {
  return word
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
}

/** Returns the stored form of a stated verdict; undefined if no verdict is stated, or if its word is unknown. */
export function statedStatus({
  verification_status: status,
  verification_provider: provider,
}: StatedVerdict): VerificationStatus | undefined {
  if (status === undefined) return undefined;
  const words = provider === undefined ? ANY : WORDS.get(plainWord(provider));
  return words?.get(plainWord(status));
}

/**
 * Returns problems of a stated verdict: an unknown provider, or a word that the service does not use. `path` is the
 * path of the object that contains the verdict.
 */
export function verdictProblems(stated: StatedVerdict, path: string): Problem[] {
  const { verification_status: status, verification_provider: provider } = stated;
  const problems: Problem[] = [];
  const words = provider === undefined ? ANY : WORDS.get(plainWord(provider));
  if (!words)
    problems.push({ path: `${path}.verification_provider`, message: message('field.choice', { choices: PROVIDERS }) });
  // For an unknown service, accepts the words of all known services.
  const known = words ?? ANY;
  if (status !== undefined && !known.has(plainWord(status)))
    problems.push({
      path: `${path}.verification_status`,
      message: message('field.choice', { choices: [...known.keys()] }),
    });
  if (status === undefined && words && provider !== undefined)
    problems.push({ path: `${path}.verification_status`, message: message('directory.verdict_needed') });
  return problems;
}

/**
 * Throws an error that lists all problems of verdicts, if there are any.
 * @throws AppError unknown_verification_status, unknown_verification_provider
 */
export function refuseVerdicts(problems: Problem[]): void {
  if (problems.length === 0) return;
  if (problems.some(({ path }) => path.endsWith('.verification_provider')))
    throw new AppError('unknown_verification_provider', message('directory.unknown_provider'), { problems });
  throw new AppError('unknown_verification_status', message('directory.unknown_verdict'), { problems });
}
