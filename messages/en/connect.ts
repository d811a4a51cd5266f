/** Sentences of the room connect. */
export const connect = {} as const;
