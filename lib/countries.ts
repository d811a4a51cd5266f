import { readFileSync } from 'node:fs';
import { Reader, type CountryResponse } from 'mmdb-lib';

/** The country of an address, ISO 3166-1 alpha-2 in upper case; null where it is not known. */
type CountryOf = (address: string) => string | null;

/**
 * Reads a database of countries in MaxMind's format (GeoLite2 Country, DB-IP and others) into memory, for as long as the process runs.
 * @param path GEOIP_DATABASE; without one no country is known
 * @throws Error when the file is missing or no such database
 */
export function openCountries(path: string | undefined): CountryOf {
  if (!path) return () => null;
  const reader = open(path);
  return (address) => {
    try {
      const code = reader.get(address)?.country?.iso_code;
      return code && /^[A-Z]{2}$/.test(code) ? code : null;
    } catch {
      // An address that is none.
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
