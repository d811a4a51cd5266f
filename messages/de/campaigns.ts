/** Sätze des Raums campaigns. */
export const campaigns = {};
