/** Sätze des Raums reporting. */
export const reporting = {};
