/** Sentences of the room mail. */
export const mail = {} as const;
