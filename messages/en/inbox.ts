/** Sentences of the room inbox. */
export const inbox = {} as const;
