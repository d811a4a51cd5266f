/**
 * Generates examples/leads.csv: `node bundle/run.mjs examples/leads.ts > examples/leads.csv`. The output is always the
 * same, so a test compares the file with it (domain/audience/imports/run.test.ts).
 */
import { pathToFileURL } from 'node:url';

/** Addresses and domains that are suppressed before the import, to show the effect of suppressions. */
export const SUPPRESSED_BEFOREHAND = {
  domain: 'blocked.example.org',
  addresses: [
    'karin.nilsson@fjord-freight.test',
    'omar.haddad@atlas-print.example.net',
    'beatrice.fontaine@lumiere-studio.test',
    'tom.becker@becker-soehne.example.com',
    'grace.okafor@savanna-solar.example.org',
  ],
} as const;

const GOOD_ROWS = 306;

const FIRST = [
  'Anna',
  'José',
  'Łukasz',
  'Zoë',
  'Søren',
  'Mary Ann',
  'Björn',
  'Chloé',
  'Davor',
  'Elif',
  'François',
  'Giulia',
  'Hana',
  'Igor',
  'Jürgen',
  'Katarzyna',
  'Liam',
  'Małgorzata',
  'Niamh',
  'Olga',
  'Pedro',
  'Quinn',
  'Renée',
  'Siobhán',
  'Tomáš',
  'Ursula',
  'Veronika',
  'Will',
  'Ximena',
  'Yusuf',
  'Žofia',
  'Ángel',
];
const LAST = [
  'Müller',
  "O'Brien",
  'García López',
  'Nowak',
  'Jensen',
  'Smith',
  'Lefèvre',
  'Kovačević',
  'Yılmaz',
  'Rossi',
  'Svoboda',
  'Ivanova',
  'Weiß',
  'Wiśniewska',
  'Murphy',
  'Hernández',
  'Silva',
  'van den Berg',
  'Dvořák',
  'Åkesson',
  'Nguyễn',
  'Şahin',
  'Brown',
  'Fernández-Ruiz',
  'Papadopoulos',
  'Øster',
  'Schäfer',
];
/** People whose names are written in other scripts, each with the address that their company has given them. */
const OTHER_SCRIPTS = [
  ['Юлия', 'Петрова', 'yulia.petrova'],
  ['さくら', '田中', 'sakura.tanaka'],
  ['محمد', 'العلي', 'mohammed.alali'],
  ['伟', '王', 'wei.wang'],
  ['Δημήτρης', 'Νικολάου', 'dimitris.nikolaou'],
  ['민준', '김', 'minjun.kim'],
  ['דוד', 'לוי', 'david.levi'],
] as const;
const COMPANIES = [
  ['Fjord Freight', 'fjord-freight.test'],
  ['Smith, Jones & Co', 'smith-jones.example.com'],
  ['Łódź Logistics Sp. z o.o.', 'lodz-logistics.test'],
  ['The "Blue" Bakery', 'blue-bakery.example.net'],
  ['Lumière Studio', 'lumiere-studio.test'],
  ['Atlas Print', 'atlas-print.example.net'],
  ['Becker & Söhne GmbH', 'becker-soehne.example.com'],
  ['Savanna Solar, Inc.', 'savanna-solar.example.org'],
  ['Kobo Labs', 'kobo.test'],
  ['Café Ñandú, S.L.', 'cafe-nandu.test'],
  ['Northwind Traders', 'northwind.example.com'],
  ['Tidewater Dental', 'tidewater.example.org'],
  ['株式会社みらい', 'mirai.test'],
  ['Ünal Tekstil A.Ş.', 'unal-tekstil.example.net'],
  ['Green & Grey', 'green-grey.test'],
  ['', 'solo.example.com'],
] as const;
const CITIES = [
  'Oslo',
  'Łódź',
  'São Paulo',
  'Zürich',
  '東京',
  'Cork',
  'İzmir',
  'Reykjavík',
  'Austin, TX',
  'Kraków',
  'Málaga',
  '',
];
const PLANS = ['free', 'starter', 'pro', 'Pro ', 'enterprise', ''];
const NOTES = [
  '',
  '',
  '',
  'Met at the fair',
  'Asked for pricing, call back in May',
  'Said: "not before Q3"',
  'Two offices:\r\n- Oslo\r\n- Bergen',
  'Prefers email; no calls',
  '=VLOOKUP(A2;B:C;2)',
];

const HEADER = [
  'Email Address',
  'First Name',
  'Last Name',
  'Company Name',
  'Phone',
  'Plan',
  'City',
  'Last Order',
  'Notes',
  'Do Not Email',
];

/** Placeholder for a byte that is not UTF-8, such as a dash pasted from an older program. */
const PASTED = '\ue000';

/** Returns the bytes of the file: with byte order mark, CRLF, and all peculiarities of real exports. */
export function leadsCsv(): Buffer {
  const [before = '', after = ''] = leadsText().split(PASTED);
  return Buffer.concat([Buffer.from(before), Buffer.from([0x96]), Buffer.from(after)]);
}

function leadsText(): string {
  const random = generator(20_240_117);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const addresses = new Set<string>(SUPPRESSED_BEFOREHAND.addresses);
  const person = (): string[] => {
    for (;;) {
      const [company, host] = pick(COMPANIES);
      const [first, last, mailbox] = random() < 0.06 ? pick(OTHER_SCRIPTS) : [pick(FIRST), pick(LAST), ''];
      const email = `${mailbox || `${plain(first)}.${plain(last)}`}@${host}`;
      if (addresses.has(email)) continue;
      addresses.add(email);
      const named = random();
      return [
        email,
        named < 0.06 ? '' : first,
        named > 0.03 && named < 0.1 ? '' : last,
        company,
        random() < 0.3
          ? ''
          : `+${10 + Math.floor(random() * 80)} ${100 + Math.floor(random() * 900)} ${1000 + Math.floor(random() * 9000)}`,
        pick(PLANS),
        pick(CITIES),
        random() < 0.25 ? '' : `2024-0${1 + Math.floor(random() * 9)}-${10 + Math.floor(random() * 18)}`,
        pick(NOTES),
        '',
      ];
    }
  };
  const rows = Array.from({ length: GOOD_ROWS }, () => line(person()));
  const good = rows.map((row) => row.slice(0, row.indexOf(',')));

  for (const [at, text] of faultyLines(good)) rows.splice(at, 0, text);
  return `\ufeff${[line(HEADER), ...rows].join('\r\n')}\r\n\r\n`;
}

/**
 * Manually written lines with faults as in real files. `at` is the index among all lines, including faulty lines that
 * were inserted before. `good` are the addresses of the lines without faults.
 */
function faultyLines(good: readonly string[]): [at: number, text: string][] {
  return [
    [12, line([`${good[3]!.toUpperCase()}`, 'Anna', '', '', '', '', '', '', 'typed in capitals'])],
    [30, line([`  ${good[20]!} `, '', '', '', '', '', '', '', ''])],
    [31, ''],
    [44, line(['jan.kowalski(at)lodz-logistics.test', 'Jan', 'Kowalski', '', '', 'pro', 'Łódź', '', ''])],
    [58, line([capitalize(good[1]!), 'B.', '', '', '', '', '', '', ''])],
    [70, line(['ops@blocked.example.org', 'Ops', '', 'Blocked', '', '', '', '', ''])],
    [71, line(['Sales@Blocked.Example.Org', 'Sales', '', 'Blocked', '', '', '', '', ''])],
    [85, line(['', 'Nobody', 'Atall', 'Ghost Ltd', '', '', '', '', 'lost the address'])],
    [96, line([SUPPRESSED_BEFOREHAND.addresses[0], 'Karin', 'Nilsson', 'Fjord Freight', '', 'pro', 'Oslo', '', ''])],
    [97, ''],
    [98, ''],
    [110, 'too.few@kobo.test,Toofew'],
    [
      124,
      `${line(['too.many@kobo.test', 'Toomany', 'Columns', 'Kobo Labs', '', 'pro', 'Cork', '', ''])},surplus,cells`,
    ],
    [139, line(['sam@@tidewater.example.org', 'Sam', 'Stone', 'Tidewater Dental', '', '', '', '', ''])],
    [150, line([`mailto:${good[9]!}`, '', '', '', '', '', '', '', ''])],
    [
      163,
      line([SUPPRESSED_BEFOREHAND.addresses[1].toUpperCase(), 'Omar', 'Haddad', 'Atlas Print', '', '', '', '', '']),
    ],
    [170, line([good[100]!, '', '', '', '', '', '', '', 'exported twice'])],
    [171, line([good[100]!, '', '', '', '', '', '', '', 'exported three times'])],
    [188, line(['info@blocked.example.org', '', '', 'Blocked', '', '', '', '', ''])],
    [200, line(['no-domain@', 'No', 'Domain', '', '', '', '', '', ''])],
    [
      201,
      line([
        'renée.roux@lumiere-studio.test',
        'Renée',
        'Roux',
        'Lumière Studio',
        '',
        '',
        '',
        '',
        'accent in the address',
      ]),
    ],
    [214, ',,,,,,,,'],
    [
      222,
      line([
        `Zoë Smith <zoe@smith-jones.example.com>`,
        'Zoë',
        'Smith',
        'Smith, Jones & Co',
        '',
        'pro',
        'Cork',
        '',
        'address with a display name',
      ]),
    ],
    [233, line([SUPPRESSED_BEFOREHAND.addresses[2], 'Béatrice', 'Fontaine', 'Lumière Studio', '', '', '', '', ''])],
    [240, line(['a@blocked.example.org', '', '', '', '', '', '', '', ''])],
    [247, line(['spaces in@middle.test', 'Spacey', 'Jones', '', '', '', '', '', ''])],
    [260, line([SUPPRESSED_BEFOREHAND.addresses[3], 'Tom', 'Becker', 'Becker & Söhne GmbH', '', '', '', '', ''])],
    [268, line(['b@blocked.example.org', '', '', '', '', '', '', '', ''])],
    [275, line(['hans@localhost', 'Hans', 'Local', '', '', '', '', '', ''])],
    [281, line([`${good[200]!} `, '', '', '', '', '', '', '', ''])],
    [290, line([SUPPRESSED_BEFOREHAND.addresses[4], 'Grace', 'Okafor', 'Savanna Solar, Inc.', '', '', '', '', ''])],
    [299, line(['dots..twice@northwind.example.com', 'Dot', 'Twice', '', '', '', '', '', ''])],
    [305, line([capitalize(good[250]!), '', '', '', '', '', '', '', ''])],
    [312, `broken@kobo.test,"a quote nobody closed,Kobo Labs,,,,,`],
    [318, line(['c@blocked.example.org', '', '', '', '', '', '', '', ''])],
    [325, line(['N/A', 'Not', 'Available', '', '', '', '', '', ''])],
    [330, line([good[60]!, 'Again', '', '', '', '', '', '', ''])],
    [332, line(['maya.stone@tidewater.example.org', 'Maya', 'Stone', 'Tidewater Dental', '', '', '', '', '', 'yes'])],
    [334, line(['noah.berg@green-grey.test', 'Noah', 'Berg', 'Green & Grey', '', '', '', '', '', 'ask Mia first'])],
    [336, line(['ines.roth@kobo.test', 'Inés', 'Roth', `Café 10 ${PASTED} 20`, '', '', '', '', '', ''])],
    // The company contains an unquoted comma, which shifts all following cells.
    [338, 'rosa.diaz@cafe-nandu.test,Rosa,Díaz,Café Ñandú, S.L.,,pro,Málaga,,,'],
    [
      340,
      'liam.brown@savanna-solar.example.org,Liam,Brown,Savanna Solar, Inc.,,starter,Cork,2024-03-11,Met at the fair,no',
    ],
  ];
}

function line(cells: readonly string[]): string {
  return cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',');
}

/** Converts a name to its spelling in email addresses: lower case, without accents. */
function plain(name: string): string {
  const letters: Record<string, string> = { ł: 'l', ø: 'o', ß: 'ss', ı: 'i', đ: 'd' };
  return name
    .toLowerCase()
    .normalize('NFD')
    .replace(/[łøßıđ]/g, (letter) => letters[letter]!)
    .replace(/[^a-z]+/g, '');
}

function capitalize(email: string): string {
  return email.replace(/(^|[.@])([a-z])/g, (_, before: string, letter: string) => before + letter.toUpperCase());
}

/** Returns a random generator that gives the same numbers on every machine (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.stdout.write(leadsCsv());
