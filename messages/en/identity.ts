/** Sentences of the room identity. */
export const identity = {} as const;
