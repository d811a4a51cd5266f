/** Sätze des Raums agents. */
export const agents = {};
