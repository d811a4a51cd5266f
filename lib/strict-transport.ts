/** Seconds for which browsers use only https after they received the header: one year. */
const YEAR_S = 365 * 24 * 3600;

/**
 * Returns the Strict-Transport-Security header of a service by its public address. Undefined if the address is not
 * https.
 */
export function strictTransport(publicUrl: string): string | undefined {
  return publicUrl.startsWith('https://') ? `max-age=${YEAR_S}` : undefined;
}
