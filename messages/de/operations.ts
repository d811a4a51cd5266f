/** Sätze des Raums operations. */
export const operations = {};
