import { parse } from 'tldts';
import { COUNTRY_ZONES, WORLDWIDE_SUFFIXES } from './country-zones.ts';
import { isIanaZone } from './zone.ts';

interface RecipientZone {
  /** A valid IANA name. */
  readonly timezone: string;
  readonly source: 'custom_field' | 'email_domain' | 'default';
}

// Abbreviations that people write for their time zone, including summer time. Ambiguous ones (CST, IST, BST, AST) are
// omitted.
const ABBREVIATIONS: Readonly<Record<string, string>> = {
  Z: 'UTC',
  UTC: 'UTC',
  GMT: 'UTC',
  ET: 'America/New_York',
  EST: 'America/New_York',
  EDT: 'America/New_York',
  CT: 'America/Chicago',
  CDT: 'America/Chicago',
  MT: 'America/Denver',
  MDT: 'America/Denver',
  PT: 'America/Los_Angeles',
  PST: 'America/Los_Angeles',
  PDT: 'America/Los_Angeles',
  AKST: 'America/Anchorage',
  AKDT: 'America/Anchorage',
  HST: 'Pacific/Honolulu',
  BRT: 'America/Sao_Paulo',
  ART: 'America/Argentina/Buenos_Aires',
  WET: 'Europe/Lisbon',
  WEST: 'Europe/Lisbon',
  CET: 'Europe/Paris',
  CEST: 'Europe/Paris',
  EET: 'Europe/Athens',
  EEST: 'Europe/Athens',
  MSK: 'Europe/Moscow',
  SAST: 'Africa/Johannesburg',
  PKT: 'Asia/Karachi',
  HKT: 'Asia/Hong_Kong',
  SGT: 'Asia/Singapore',
  WIB: 'Asia/Jakarta',
  JST: 'Asia/Tokyo',
  KST: 'Asia/Seoul',
  AWST: 'Australia/Perth',
  ACST: 'Australia/Adelaide',
  ACDT: 'Australia/Adelaide',
  AEST: 'Australia/Sydney',
  AEDT: 'Australia/Sydney',
  NZST: 'Pacific/Auckland',
  NZDT: 'Pacific/Auckland',
};

// Zones for offsets that are not whole hours and have no Etc zone, by minutes east of UTC. These zones have the same
// offset all year.
const FRACTIONAL: Readonly<Record<number, string>> = {
  [-570]: 'Pacific/Marquesas',
  210: 'Asia/Tehran',
  270: 'Asia/Kabul',
  330: 'Asia/Kolkata',
  345: 'Asia/Kathmandu',
  390: 'Asia/Yangon',
  525: 'Australia/Eucla',
  570: 'Australia/Darwin',
};

/**
 * Converts the common spellings of a time zone to an IANA name: "Europe/Budapest", "america/new york", "(UTC+02:00)
 * Europe/Budapest", "UTC+2", "GMT-05:00", "+5:30", "EST". Returns null when it is empty, unknown or ambiguous.
 */
export function parseTimezone(text: string): string | null {
  const name = text
    .trim()
    .replace(/^\([^)]*\)\s*(?=\S)/, '')
    .split('/')
    .map((part) => part.trim())
    .join('/');
  const short = ABBREVIATIONS[name.toUpperCase()];
  if (short !== undefined) return short;
  const offset = /^(?:UTC|GMT)?\s*([+-])(\d{1,2})(?::?([0-5]\d))?$/i.exec(name);
  if (offset !== null) return offsetZone(offset[1] === '-' ? -1 : 1, Number(offset[2]), Number(offset[3] ?? 0));
  const underscored = name.replace(/\s+/g, '_');
  return isIanaZone(underscored) ? underscored : null;
}

/**
 * Returns the zone for send-time optimization. Tries the contact's `timezone` field, the country suffix of the email
 * domain, `fallback` (`default_contact_timezone`), then UTC. A `timezone` field that cannot be parsed is ignored.
 */
export function recipientZone(customTimezone: string | null, email: string, fallback: string | null): RecipientZone {
  const custom = customTimezone === null ? null : parseTimezone(customTimezone);
  if (custom !== null) return { timezone: custom, source: 'custom_field' };
  const country = countryZone(email.slice(email.lastIndexOf('@') + 1));
  if (country !== null) return { timezone: country, source: 'email_domain' };
  return { timezone: (fallback === null ? null : parseTimezone(fallback)) ?? 'UTC', source: 'default' };
}

function countryZone(domain: string): string | null {
  const { publicSuffix, isIp } = parse(domain);
  if (publicSuffix === null || isIp === true) return null;
  const labels = publicSuffix.split('.');
  const country = labels.at(-1)!;
  if (labels.length === 1 && WORLDWIDE_SUFFIXES.has(country)) return null;
  return Object.hasOwn(COUNTRY_ZONES, country) ? COUNTRY_ZONES[country]! : null;
}

/** The names of Etc zones have the opposite sign: UTC+2 is Etc/GMT-2. */
function offsetZone(sign: 1 | -1, hours: number, minutes: number): string | null {
  const total = sign * (hours * 60 + minutes);
  if (minutes !== 0) return FRACTIONAL[total] ?? null;
  if (total < -12 * 60 || total > 14 * 60) return null;
  return total === 0 ? 'UTC' : `Etc/GMT${sign === 1 ? '-' : '+'}${hours}`;
}
