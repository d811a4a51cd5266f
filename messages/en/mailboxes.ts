/** Sentences of the room mailboxes. */
export const mailboxes = {} as const;
