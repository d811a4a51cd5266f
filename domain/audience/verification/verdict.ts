/** What is known of an address. `unknown`: it was looked at, and nothing speaks against it or proves it. */
export interface Verdict {
  status: 'valid' | 'risky' | 'invalid' | 'unknown';
  /** Why, as a short name in lower case. */
  reason: string;
  isCatchAll: boolean;
}
