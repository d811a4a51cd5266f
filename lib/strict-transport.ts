/** How long (s) browsers keep to https once they have seen it. */
const YEAR_S = 365 * 24 * 3600;

/** The Strict-Transport-Security header of a service by its public address; undefined where that is not https. */
export function strictTransport(publicUrl: string): string | undefined {
  return publicUrl.startsWith('https://') ? `max-age=${YEAR_S}` : undefined;
}
