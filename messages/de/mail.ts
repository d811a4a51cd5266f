/** Sätze des Raums mail. */
export const mail = {};
