import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import test from 'ava';
import fc from 'fast-check';
import { sha256 } from './crypto.ts';
import { MultipartError, readMultipart, type Multipart, type MultipartLimits } from './multipart.ts';

const LIMITS: MultipartLimits = { bodyBytes: 64 * 1024 * 1024, fieldBytes: 1_000, files: 1 };
const BOUNDARY = 'edge-of-a-part';

/** Creates a request as a server receives it. Its body arrives in pieces and may be truncated. */
function request(body: string | Buffer, { complete = true, boundary = BOUNDARY, pieceBytes = 64 * 1024 } = {}) {
  const bytes = Buffer.from(body as string);
  const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, n) =>
    bytes.subarray(n * pieceBytes, (n + 1) * pieceBytes),
  );
  const headers = { 'content-type': `multipart/form-data${boundary ? `; boundary=${boundary}` : ''}` };
  return Object.assign(Readable.from(pieces), { headers, complete }) as unknown as IncomingMessage;
}

const part = (head: string, content: string) =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`;
const whole = (...parts: string[]) => `${parts.join('')}--${BOUNDARY}--\r\n`;

async function removeFiles({ files }: Multipart): Promise<void> {
  for (const { path } of Object.values(files)) await rm(path);
}

test('fields and files come as they were sent, however the body is cut', async (t) => {
  const body = whole(
    part('name="options"', '{"a":"é"}'),
    part('name="twice"', '1'),
    part('name="twice"', '2'),
    part('name="__proto__"', 'own'),
    part('name="file"; filename="C:\\\\temp\\\\été.csv"', 'a\r\n\r\n--b\r\n'),
    part('name="other"; filename="b.csv"', 'one file is enough'),
  );
  for (const pieceBytes of [1, 7, 64 * 1024]) {
    const parts = await readMultipart(request(body, { pieceBytes }), LIMITS);
    t.deepEqual(Object.entries(parts.fields), [
      ['options', '{"a":"é"}'],
      ['twice', ['1', '2']],
      ['__proto__', 'own'],
    ]);
    t.deepEqual(Object.keys(parts.files), ['file']);
    const { path, ...file } = parts.files.file!;
    const text = await readFile(path, 'utf8');
    t.is(text, 'a\r\n\r\n--b\r\n');
    t.deepEqual(file, { filename: 'été.csv', sizeBytes: 10, sha256: sha256(text) });
    await removeFiles(parts);
  }
});

test('a body costs work in proportion to its length, whatever is in it', async (t) => {
  // A parser that restarts at each possible boundary would take minutes, longer than this limit.
  t.timeout(60_000);
  for (const piece of ['\r', '\r\n', '\r\n--', `\r\n--${BOUNDARY.slice(0, -1)}`]) {
    const content = piece.repeat(Math.ceil(40_000_000 / piece.length));
    const parts = await readMultipart(request(whole(part('name="file"; filename="a.csv"', content))), LIMITS);
    t.is(parts.files.file!.sizeBytes, content.length);
    await removeFiles(parts);
  }
});

test('what is too large, cut off or no multipart body is refused, and leaves no file', async (t) => {
  const file = part('name="file"; filename="a.csv"', 'x'.repeat(100_000));
  const refused: [string, Parameters<typeof request>, Partial<MultipartLimits>][] = [
    ['too_large', [whole(file)], { bodyBytes: 50_000 }],
    ['too_large', [whole(part('name="a"', 'x'.repeat(1_001)))], {}],
    ['too_large', [whole(...Array.from({ length: 60 }, (_, n) => part(`name="f${n}"`, '')))], {}],
    ['malformed', [file], {}],
    ['malformed', [file, { complete: false }], {}],
    ['malformed', [part('name="a"', 'x')], {}],
    ['malformed', [file + part('name="more"; filename="b"', 'y').slice(0, -8)], {}],
    ['malformed', [whole(file), { boundary: '' }], {}],
    ['malformed', ['no part at all'], {}],
  ];
  for (const [kind, given, limits] of refused) {
    const error = await t.throwsAsync(readMultipart(request(...given), { ...LIMITS, ...limits }));
    t.true(error instanceof MultipartError, String(error));
    t.is((error as MultipartError).kind, kind as MultipartError['kind'], given[0].slice(0, 80) as string);
  }
});

test('any bytes give parts or a refusal', async (t) => {
  const words = fc.constantFrom(
    `--${BOUNDARY}`,
    `--${BOUNDARY}--`,
    '\r\n',
    'Content-Disposition: form-data; name="a"',
    '; filename="b"',
    'Content-Type: application/octet-stream',
    '--',
    '\0',
    'x',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(words, { maxLength: 30 }), fc.constantFrom(1, 5, 1_000), async (body, pieceBytes) => {
      try {
        const parts = await readMultipart(request(body.join(''), { pieceBytes }), LIMITS);
        t.true(Object.values(parts.files).every(({ path }) => existsSync(path)));
        await removeFiles(parts);
      } catch (error) {
        if (!(error instanceof MultipartError)) throw error;
      }
    }),
    { numRuns: 300 },
  );
});
