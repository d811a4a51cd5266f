/** Sätze des Raums identity. */
export const identity = {};
