/** Result of checking an address. `unknown`: checked, without evidence of either. */
export interface Verdict {
  status: 'valid' | 'risky' | 'invalid' | 'unknown';
  /** Short reason in lower case. */
  reason: string;
  isCatchAll: boolean;
}
