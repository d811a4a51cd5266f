/** Sentences of the room audience. */
export const audience = {} as const;
