/** Sätze des Raums platform. */
export const platform = {};
