/** Sentences of the room reporting. */
export const reporting = {} as const;
