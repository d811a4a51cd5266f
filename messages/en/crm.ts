/** Sentences of the room crm. */
export const crm = {} as const;
