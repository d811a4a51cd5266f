/** Messages of the mail room; none so far. */
export const mail = {} as const;
