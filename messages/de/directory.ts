/** Sätze des Raums directory. */
export const directory = {};
