/** Sentences of the room operations. */
export const operations = {} as const;
