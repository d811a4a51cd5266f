/** Sätze des Raums approvals. */
export const approvals = {};
