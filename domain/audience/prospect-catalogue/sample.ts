import { sha256 } from '../../../lib/crypto.ts';

/*
 * Fictitious people and companies, for demonstrations and benchmarks. Equal arguments give equal data. Domains end in
 * .example, which nobody can register.
 */

const FIRST =
  'Ada Ben Chloe Diego Elif Femi Grace Hugo Ines Jonas Kemal Lena Mira Nils Olga Priya Quinn Rosa Sven Tara Umar Vera Wim Xenia Yara Zoe'.split(
    ' ',
  );
const SYLLABLES =
  'ba be bo da de di fa fe ga go ha he ja ka ke la le lo ma me mi na ne no pa pe ra re ri sa se si ta te ti va ve wa we za'.split(
    ' ',
  );
const TITLES = [
  'Engineer',
  'Manager',
  'Director',
  'Analyst',
  'Consultant',
  'Designer',
  'Officer',
  'Specialist',
  'Architect',
  'Coordinator',
];
const FIELDS = [
  'Software',
  'Sales',
  'Marketing',
  'Finance',
  'Product',
  'Data',
  'Security',
  'Operations',
  'People',
  'Legal',
  'Support',
  'Growth',
];
/** Countries with decreasing weights, as in real data: the first has a third of all. */
const COUNTRIES = [
  'United States',
  'India',
  'United Kingdom',
  'Germany',
  'France',
  'Brazil',
  'Canada',
  'Spain',
  'Italy',
  'Netherlands',
  'Australia',
  'Mexico',
  'Poland',
  'Sweden',
  'Portugal',
  'Ireland',
  'Denmark',
  'Austria',
  'Norway',
  'Estonia',
];
const SENIORITIES = ['entry', 'senior', 'manager', 'director', 'head', 'vp', 'c_suite', 'founder', 'owner', 'partner'];
const DEPARTMENTS = [
  'engineering',
  'sales',
  'marketing',
  'finance',
  'product',
  'operations',
  'human resources',
  'legal',
  'support',
  'design',
  'data',
  'security',
];
const INDUSTRIES = [
  'software',
  'retail',
  'banking',
  'health care',
  'logistics',
  'education',
  'energy',
  'media',
  'travel',
  'construction',
  'insurance',
  'food',
  'telecom',
  'automotive',
  'biotech',
  'gaming',
  'legal services',
  'real estate',
  'agriculture',
  'aerospace',
];
const TECHNOLOGIES = Array.from({ length: 200 }, (_, index) => `tech-${index}`);
const STATUSES = ['verified', 'verified', 'guessed', 'unverified'];
const SIZES = [1, 5, 12, 40, 90, 150, 400, 900, 3_000, 12_000, 60_000];

/** Returns a pseudo-random number from 0 (inclusive) to 1 (exclusive) for each index and purpose. */
function randomAt(index: number, purpose: number): number {
  let hash = Math.imul(index ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(purpose + 1, 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39);
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32;
}

/** Chooses a value of a list. A larger `skew` chooses the first values more often. */
function pick<T>(values: readonly T[], index: number, purpose: number, skew = 1): T {
  return values[Math.floor(randomAt(index, purpose) ** skew * values.length)]!;
}

function word(index: number, purpose: number): string {
  const text =
    pick(SYLLABLES, index, purpose) + pick(SYLLABLES, index, purpose + 1) + pick(SYLLABLES, index, purpose + 2);
  return text[0]!.toUpperCase() + text.slice(1);
}

/** Returns a location: one of forty towns in one of eight regions of a country. */
function placeOf(index: number, purpose: number): { country: string; state: string; city: string } {
  const country = pick(COUNTRIES, index, purpose, 3);
  const region = Math.floor(randomAt(index, purpose + 1) * 8);
  const town = Math.floor(randomAt(index, purpose + 2) ** 2 * 40);
  return { country, state: `${country} Region ${region}`, city: `${country.slice(0, 3)}town ${region}-${town}` };
}

function companyId(index: number): string {
  return sha256(`sample company ${index}`).slice(0, 24);
}

/** Returns a sample company, as a line of a file. */
export function sampleCompany(index: number): Record<string, unknown> {
  const name = `${word(index, 10)} ${word(index, 20)}`;
  return {
    type: 'company',
    id: companyId(index),
    name,
    domain: `${name.replace(' ', '-').toLowerCase()}-${index}.example`,
    industries: [pick(INDUSTRIES, index, 30, 2)],
    technologies: [...new Set([31, 32, 33, 34].map((purpose) => pick(TECHNOLOGIES, index, purpose, 3)))],
    employees: randomAt(index, 40) < 0.1 ? null : Math.floor(pick(SIZES, index, 41, 2) * (1 + randomAt(index, 42) * 3)),
    ...placeOf(index, 50),
    website: '',
    founded_year: 1950 + Math.floor(randomAt(index, 60) * 75),
    updated_at: '2024-06-01',
  };
}

/** Returns a sample person at one of `companies` companies, as a line of a file. */
export function samplePerson(index: number, companies: number): Record<string, unknown> {
  const first = pick(FIRST, index, 100);
  const last = word(index, 101);
  const employer = companies === 0 ? undefined : Math.floor(randomAt(index, 110) * companies);
  const mailed = randomAt(index, 120);
  return {
    id: sha256(`sample person ${index}`).slice(0, 24),
    first_name: first,
    last_name: last,
    // A quarter of the sample people have no address, and 2 % have an invalid one.
    email:
      mailed < 0.25
        ? ''
        : mailed < 0.27
          ? `${first.toLowerCase()} at mail`
          : `${first}.${last}.${index}@mail-${index % 997}.example`.toLowerCase(),
    email_status: mailed < 0.25 ? '' : pick(STATUSES, index, 121),
    title: `${pick(FIELDS, index, 130)} ${pick(TITLES, index, 131)}`,
    seniority: pick(SENIORITIES, index, 140, 2),
    department: pick(DEPARTMENTS, index, 141),
    ...placeOf(index, 150),
    ...(employer === undefined ? {} : { company_id: companyId(employer) }),
    updated_at: '2024-06-01',
  };
}

/** Yields the lines of a JSONL sample file, companies first. */
export function* sampleLines(people: number, companies: number): Generator<string> {
  for (let index = 0; index < companies; index += 1) yield `${JSON.stringify(sampleCompany(index))}\n`;
  for (let index = 0; index < people; index += 1) yield `${JSON.stringify(samplePerson(index, companies))}\n`;
}
