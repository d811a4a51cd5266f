/** Sentences of the room billing. */
export const billing = {} as const;
