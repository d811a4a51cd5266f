/** Sätze des Raums audience. */
export const audience = {};
