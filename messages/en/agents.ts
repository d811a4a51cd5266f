/** Sentences of the room agents. */
export const agents = {} as const;
