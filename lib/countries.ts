import { readFileSync } from 'node:fs';
import { Reader, type CountryResponse } from 'mmdb-lib';

/** Returns the country of an IP address (ISO 3166-1 alpha-2, upper case), or null if it is unknown. */
type CountryOf = (address: string) => string | null;

/**
 * Reads a country database in MaxMind's format (GeoLite2 Country, DB-IP and others) into memory for the lifetime of the
 * process.
 * @param path GEOIP_DATABASE; without a path every country is unknown
 * @throws Error when the file is missing or not a valid database
 */
export function openCountries(path: string | undefined): CountryOf {
  if (!path) return () => null;
  const reader = open(path);
  return (address) => {
    try {
      const code = reader.get(address)?.country?.iso_code;
      return code && /^[A-Z]{2}$/.test(code) ? code : null;
    } catch {
      // The database package throws for text that is not a valid IP address.
      return null;
    }
  };
}

function open(path: string): Reader<CountryResponse> {
  try {
    return new Reader<CountryResponse>(readFileSync(path));
  } catch (error) {
    throw new Error(`GEOIP_DATABASE cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
