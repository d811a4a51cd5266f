import type { VerificationStatus } from '../../directory/verification-words.ts';

/** Result of checking an address. `unknown`: the check found no evidence for or against the address. */
export interface Verdict {
  status: VerificationStatus;
  /** Short reason in lower case. */
  reason: string;
  isCatchAll: boolean;
}
