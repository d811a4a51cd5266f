/** Sentences of the room campaigns. */
export const campaigns = {} as const;
