import test from 'ava';
import { COUNTRY_ZONES, WORLDWIDE_SUFFIXES } from './country-zones.ts';
import { parseTimezone, recipientZone } from './recipient-zone.ts';
import { isIanaZone } from './zone.ts';

const parsed: [string, string | null][] = [
  ['Europe/Budapest', 'Europe/Budapest'],
  ['  America/New York ', 'America/New_York'],
  ['america / new_york', 'america/new_york'],
  ['(UTC+02:00) Europe/Budapest', 'Europe/Budapest'],
  ['Japan', 'Japan'],
  ['utc', 'UTC'],
  ['Z', 'UTC'],
  ['UTC+2', 'Etc/GMT-2'],
  ['GMT-05:00', 'Etc/GMT+5'],
  ['+0200', 'Etc/GMT-2'],
  ['UTC +5:30', 'Asia/Kolkata'],
  ['+05:45', 'Asia/Kathmandu'],
  ['-09:30', 'Pacific/Marquesas'],
  ['UTC+0', 'UTC'],
  ['UTC+14', 'Etc/GMT-14'],
  ['UTC-12', 'Etc/GMT+12'],
  ['UTC+15', null],
  ['UTC-13', null],
  ['UTC+10:30', null],
  ['EST', 'America/New_York'],
  ['cest', 'Europe/Paris'],
  ['CST', null],
  ['IST', null],
  ['BST', null],
  ['', null],
  ['London', null],
  ['constructor', null],
];

test('a time zone as people write it', (t) => {
  for (const [text, zone] of parsed) t.is(parseTimezone(text), zone, text);
});

// [custom field, email, default, zone, source]
const contacts: [string | null, string, string | null, string, string][] = [
  ['Asia/Tokyo', 'a@example.co.uk', 'UTC', 'Asia/Tokyo', 'custom_field'],
  ['somewhere', 'a@example.co.uk', 'UTC', 'Europe/London', 'email_domain'],
  ['', 'a@mail.Example.HU', null, 'Europe/Budapest', 'email_domain'],
  [null, 'a@example.com.au', null, 'Australia/Sydney', 'email_domain'],
  [null, 'a@пример.xn--p1ai', null, 'Europe/Moscow', 'email_domain'],
  [null, 'a@example.io', 'America/New_York', 'America/New_York', 'default'],
  [null, 'a@example.co', 'America/New_York', 'America/New_York', 'default'],
  [null, 'a@example.com.co', 'America/New_York', 'America/Bogota', 'email_domain'],
  [null, 'a@example.eu', 'Europe/Brussels', 'Europe/Brussels', 'default'],
  [null, 'a@uk.com', 'Asia/Tokyo', 'Asia/Tokyo', 'default'],
  [null, 'a@[192.0.2.1]', 'Asia/Tokyo', 'Asia/Tokyo', 'default'],
  [null, 'a@example.com', 'nonsense', 'UTC', 'default'],
  [null, 'nothing', null, 'UTC', 'default'],
];

test('custom field, then country suffix, then default', (t) => {
  for (const [custom, email, fallback, timezone, source] of contacts) {
    t.deepEqual(
      recipientZone(custom, email, fallback),
      { timezone, source } as ReturnType<typeof recipientZone>,
      email,
    );
  }
});

test('every zone of the tables exists', (t) => {
  for (const [country, zone] of Object.entries(COUNTRY_ZONES)) t.true(isIanaZone(zone), `${country} ${zone}`);
  for (const suffix of WORLDWIDE_SUFFIXES) t.truthy(COUNTRY_ZONES[suffix] ?? suffix === 'ac', suffix);
  for (const name of 'ET CT MT PT AKST HST BRT ART WET CET EET MSK SAST PKT HKT SGT WIB JST KST AWST ACST AEST NZST'.split(
    ' ',
  )) {
    t.true(isIanaZone(parseTimezone(name) ?? ''), name);
  }
  for (const offset of ['-9:30', '3:30', '4:30', '5:30', '5:45', '6:30', '8:45', '9:30']) {
    t.true(isIanaZone(parseTimezone(`UTC${offset.startsWith('-') ? '' : '+'}${offset}`) ?? ''), offset);
  }
});
