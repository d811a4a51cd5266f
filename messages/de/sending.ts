/** Sätze des Raums sending. */
export const sending = {};
