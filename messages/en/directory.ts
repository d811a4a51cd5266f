/** Sentences of the room directory. */
export const directory = {} as const;
