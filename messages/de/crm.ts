/** Sätze des Raums crm. */
export const crm = {};
