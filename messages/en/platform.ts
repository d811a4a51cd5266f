/** Sentences of the room platform. */
export const platform = {} as const;
