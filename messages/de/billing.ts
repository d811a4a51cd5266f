/** Sätze des Raums billing. */
export const billing = {};
