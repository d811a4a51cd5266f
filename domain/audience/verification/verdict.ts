import type { VerificationStatus } from '../../directory/verification-words.ts';

/** Result of checking an address. `unknown`: checked, without evidence of either. */
export interface Verdict {
  status: VerificationStatus;
  /** Short reason in lower case. */
  reason: string;
  isCatchAll: boolean;
}
