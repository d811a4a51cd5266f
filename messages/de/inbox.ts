/** Sätze des Raums inbox. */
export const inbox = {};
