import test from 'ava';
import fc from 'fast-check';
import iconv from 'iconv-lite';
import { stringify } from 'csv-stringify/sync';
import { AddressSet } from './address-set.ts';
import { suggestMapping } from './columns.ts';
import { decodeText } from './encoding.ts';
import { detectDelimiter } from './layout.ts';
import { csvRecords, MAX_RECORD_CHARS, type CsvRecord } from './records.ts';

async function* pieces(text: string, size: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

async function* chunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function records(text: string, size = 7, delimiter = ','): Promise<CsvRecord[]> {
  const all: CsvRecord[] = [];
  for await (const group of csvRecords(pieces(text, size), { delimiter, format: 'csv' })) all.push(...group);
  return all;
}

test('any table written as CSV reads back, wherever the text is cut, with the line each row starts on', async (t) => {
  const cell = fc.string({ unit: fc.constantFrom('a', 'é', '"', ',', ';', '\n', ' ', "'", '東'), maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.array(cell, { minLength: 1, maxLength: 4 }).filter((row) => row.some((value) => value.trim())),
        { minLength: 1, maxLength: 8 },
      ),
      fc.constantFrom(',', ';'),
      fc.integer({ min: 1, max: 9 }),
      async (table, delimiter, size) => {
        const text = stringify(table, { delimiter, quoted: true });
        const read = await records(text, size, delimiter);
        t.deepEqual(
          read.map((row) => row.values),
          table,
        );
        let line = 1;
        for (const [index, row] of table.entries()) {
          t.is(read[index]!.line, line);
          line += 1 + row.join('').split('\n').length - 1;
        }
      },
    ),
    { numRuns: 200 },
  );
});

test('a line without an end costs itself: it is not kept, whatever it is made of, and the next one is read', async (t) => {
  const piece = 16 * 1024;
  for (const unit of ['"', 'x', ' ', 'a,"', ',']) {
    const text = `a,1\n${unit.repeat((6 * MAX_RECORD_CHARS) / unit.length)}\nb,2\n"c\nd",3\ne,4\n`;
    const read = await records(text, piece);
    t.deepEqual(
      read.map((row) => [row.line, row.values]),
      [
        [1, ['a', '1']],
        [2, null],
        [3, ['b', '2']],
        [4, ['c\nd', '3']],
        [6, ['e', '4']],
      ],
      unit,
    );
    t.true(read[1]!.raw.length <= 3 * MAX_RECORD_CHARS, `${unit}: ${read[1]!.raw.length} characters were kept`);
  }
});

test('a quote that is not closed costs its own line', async (t) => {
  const text = 'a,1\nb,"open\nc,3\nd,"two\nlines"\ne,"x ""y"" z"\nf,6"\n"g" h,7\n';
  for (const size of [1, 5, 1000]) {
    const read = await records(text, size);
    t.deepEqual(
      read.map((row) => [row.line, row.values?.[0] ?? null]),
      [
        [1, 'a'],
        [2, null],
        [3, 'c'],
        [4, 'd'],
        [6, 'e'],
        [7, 'f'],
        [8, '"g" h'],
      ],
    );
    t.is(read[1]!.raw, 'b,"open');
  }
  const atEnd = await records('a,1\nb,"open\nc,3\n');
  t.deepEqual(
    atEnd.map((row) => row.values?.[0] ?? null),
    ['a', null, 'c'],
  );
});

/**
 * Returns the end of the row that begins at `start`, by reading ahead character by character. Undefined for a malformed
 * row.
 */
function lookAhead(text: string, start: number, delimiter: string): number | undefined {
  let fieldStart = true;
  let quoted = false;
  let overLines = false;
  for (let at = start; at < text.length; at += 1) {
    const [char, next] = [text[at], text[at + 1]];
    if (!quoted) {
      if (char === '\n') return at;
      if (char === '"' && fieldStart) [quoted, overLines, fieldStart] = [true, false, false];
      else fieldStart = char === delimiter || (fieldStart && char === ' ');
    } else if (char === '\n') {
      overLines = true;
    } else if (char === '"') {
      if (next === '"') at += 1;
      else if (overLines && next !== undefined && next !== delimiter && next !== '\n') return undefined;
      else quoted = false;
    }
  }
  return quoted ? undefined : text.length;
}

test('rows end where looking ahead from each of them says, wherever the text is cut', async (t) => {
  const text = fc
    .array(fc.constantFrom('a', '"', '""', ',', '\n', ' '), { maxLength: 60 })
    .map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 20 }), async (source, size) => {
      const expected: { line: number; raw: string }[] = [];
      for (let start = 0, line = 1; start < source.length;) {
        const feed = source.indexOf('\n', start);
        const end = lookAhead(source, start, ',') ?? (feed === -1 ? source.length : feed);
        const raw = source.slice(start, end);
        if (raw.trim()) expected.push({ line, raw });
        line += raw.split('\n').length;
        start = end + 1;
      }
      const read = await records(source, size);
      t.deepEqual(
        read.map(({ line, raw }) => ({ line, raw })),
        expected,
      );
    }),
    { numRuns: 2_000 },
  );
});

test('a megabyte of open quotes is read in linear work', async (t) => {
  // Reading ahead from each row would take minutes here, longer than the time limit of a test.
  for (const unit of ['"\n', 'a,"b\n', '"a""\n', '"",""""\n', '\n"a\n\n', '\n""a', 'a\n']) {
    const text = unit.repeat(Math.ceil((1024 * 1024) / unit.length));
    let rows = 0;
    for await (const group of csvRecords(pieces(text, 64 * 1024), { delimiter: ',', format: 'csv' }))
      rows += group.length;
    t.true(rows > 10, unit);
  }
});

test('a row without end is cut off, and what follows it is read', async (t) => {
  const many = Array.from({ length: 9000 }, (_, i) => `p${i},x`);
  const read = await records(`a,"open\n${many.join('\n')}\n`, 5000);
  t.is(read.length, 9001);
  t.is(read[0]!.values, null);
  t.is(read.at(-1)!.values?.[0], 'p8999');
  const long = await records(`a,${'x'.repeat(MAX_RECORD_CHARS)}\nb,2\n`, 5000);
  t.deepEqual(
    long.map((row) => row.values?.[0] ?? null),
    [null, 'b'],
  );
});

test('every encoding is read to the same text, wherever the bytes are cut', async (t) => {
  const text = 'e-mail;nom\r\nrenée@x.test;Zoë\rlast;ß\n';
  const expected = text.replace(/\r\n?/g, '\n');
  const cases: [string, Buffer][] = [
    ['utf-8', Buffer.from(text)],
    ['utf-8', Buffer.from(`\ufeff${text}`)],
    ['utf-16le', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['utf-16be', Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
    ['utf-32le', iconv.encode(text, 'utf-32le', { addBOM: true })],
    ['windows-1252', Buffer.from(text, 'latin1')],
    ['cp850', iconv.encode(text, 'cp850')],
  ];
  for (const [encoding, bytes] of cases) {
    for (const size of [3, 10_000]) {
      let read = '';
      for await (const part of decodeText(chunks(bytes, size), encoding)) read += part;
      t.is(read, expected, `${encoding} ${size}`);
    }
  }
});

test('delimiter and mapping are found', (t) => {
  t.is(detectDelimiter('a;b;c\n"x;1,2,3,4";2;3\n'), ';');
  t.is(detectDelimiter('a\tb\n1,5\t2,5\n'), '\t');
  t.is(detectDelimiter('a|b|c\n1|2|3'), '|');
  t.is(detectDelimiter('only\n'), ',');
  t.deepEqual(
    suggestMapping(['E-Mail Address', 'First Name', 'Prénom', 'Company', 'Last order (EUR)', 'last ORDER eur', ''], {
      hasHeader: true,
      sample: [],
    }).map((column) => column.target),
    ['email', 'first_name', 'custom:prénom', 'company', 'custom:last_order_eur', 'custom:last_order_eur_2', 'ignore'],
  );
  t.deepEqual(
    suggestMapping(['Column 1', 'Column 2'], { hasHeader: false, sample: [['Ada', 'ada@example.com']] }).map(
      (column) => column.target,
    ),
    ['ignore', 'email'],
  );
});

test('an address set knows exactly what it was given', (t) => {
  const set = new AddressSet();
  const addresses = Array.from({ length: 200_000 }, (_, i) => `person${i}@host${i % 97}.example.com`);
  t.true(addresses.every((address) => set.add(address)));
  t.false(addresses.some((address) => set.add(address)));
});

test('cells are composed, so that a file from a Mac and what people type are the same', async (t) => {
  const [header, row] = await records('pre\u0301nom,ville\nJose\u0301,Mu\u0308nchen');
  t.deepEqual(
    [header?.values, row?.values],
    [
      ['pr\u00e9nom', 'ville'],
      ['Jos\u00e9', 'M\u00fcnchen'],
    ],
  );
});
