/** Sentences of the room sending. */
export const sending = {} as const;
