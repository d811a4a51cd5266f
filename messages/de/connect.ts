/** Sätze des Raums connect. */
export const connect = {};
