/** Sentences of the room approvals. */
export const approvals = {} as const;
