import type { VerificationStatus } from '../../directory/verification-words.ts';

/** Result of checking an address. `unknown`: the check found no evidence for or against the address. */
export interface Verdict {
  status: VerificationStatus;
  /** Reason code of the verdict, in lower case. */
  reason: string;
  isCatchAll: boolean;
}
