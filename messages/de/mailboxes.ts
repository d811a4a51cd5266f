/** Sätze des Raums mailboxes. */
export const mailboxes = {};
