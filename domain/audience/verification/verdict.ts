/** Result of checking an address. `unknown`: checked, without evidence for or against it. */
export interface Verdict {
  status: 'valid' | 'risky' | 'invalid' | 'unknown';
  /** Short reason in lower case. */
  reason: string;
  isCatchAll: boolean;
}
