import test from 'ava';
import { readImageFacts } from './image-size.ts';

const png = (width: number, height: number) => {
  const bytes = Buffer.alloc(33);
  bytes.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
};
const be = (...numbers: number[]) => numbers.flatMap((number) => [number >> 8, number & 0xff]);
const le = (...numbers: number[]) => numbers.flatMap((number) => [number & 0xff, number >> 8]);
const frame = (marker: number, width: number, height: number) => [
  0xff,
  marker,
  ...be(11),
  8,
  ...be(height, width),
  1,
  1,
  1,
  1,
];
const jpeg = (...segments: number[][]) => Buffer.from([0xff, 0xd8, ...segments.flat()]);
const APP0 = [0xff, 0xe0, ...be(4), 0xff, 0xc0];
const SCAN = [0xff, 0xda, ...be(2)];
const gif = (screen: number[], ...blocks: number[][]) =>
  Buffer.from([...Buffer.from('GIF89a'), ...le(...screen), 0x80, 0, 0, ...Array(6).fill(0), ...blocks.flat(), 0x3b]);
const COMMENT = [0x21, 0xfe, 2, 0x2c, 0x2c, 0];
const webp = (name: string, rest: number[]) =>
  Buffer.concat([Buffer.from('RIFF\x1a\0\0\0WEBP', 'latin1'), Buffer.from(name), Buffer.from([10, 0, 0, 0, ...rest])]);

test('an image says how many pixels it stands for before it is decoded, whatever its kind', (t) => {
  const cases: [string, Buffer, number][] = [
    ['image/png', png(1, 1), 1],
    ['image/png', png(65_535, 65_535), 65_535 ** 2],
    ['image/png', png(2 ** 31, 2 ** 31), 2 ** 62],
    ['image/jpeg', jpeg(APP0, frame(0xc0, 640, 480), SCAN), 640 * 480],
    ['image/jpeg', jpeg([0xff], frame(0xc2, 65_500, 65_500), SCAN), 65_500 ** 2],
    ['image/jpeg', jpeg(frame(0xc0, 1, 1), frame(0xc1, 60_000, 60_000), SCAN), 60_000 ** 2],
    ['image/gif', gif([10, 20]), 200],
    ['image/gif', gif([1, 1], COMMENT, [0x2c, ...le(5, 0, 60_000, 60_000), 0]), 60_005 * 60_000],
    ['image/webp', webp('VP8X', [0, 0, 0, 0, 0xff, 0x3f, 0, 0xff, 0x3f, 0]), 16_384 ** 2],
    ['image/webp', webp('VP8 ', [0, 0, 0, 0x9d, 0x01, 0x2a, ...le(640, 480)]), 640 * 480],
    ['image/webp', webp('VP8L', [0x2f, 0xff, 0xff, 0xff, 0x0f]), 16_384 ** 2],
  ];
  for (const [type, bytes, pixels] of cases) t.deepEqual(readImageFacts(bytes), { type, pixels } as never, type);
});

test('what does not say its size, and what is no bitmap, is no image', (t) => {
  for (const bytes of [
    Buffer.alloc(0),
    png(0, 5),
    png(5, 5).subarray(0, 20),
    Buffer.concat([png(5, 5).subarray(0, 8), Buffer.alloc(30)]),
    jpeg(APP0, SCAN, frame(0xc0, 5, 5)),
    jpeg(frame(0xc0, 5, 0), SCAN),
    jpeg([0xff, 0xe0, 0xff]),
    gif([5, 5]).subarray(0, 8),
    gif([5, 5], [0x21, 0xfe, 200]),
    webp('VP8 ', []),
    webp('ICCP', Array(20).fill(1)),
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
  ])
    t.is(readImageFacts(bytes), undefined, bytes.toString('latin1'));
});

test('bytes of any kind take no longer than they are long', (t) => {
  const kinds = [png(1, 1), jpeg(APP0), gif([1, 1]), webp('VP8X', [])];
  for (const start of kinds)
    for (const piece of [[0], [0xff], [0x21, 0xfe, 0], [0xff, 0xc0, 0, 0], [0xff, 0xe0, 0, 0]])
      t.notThrows(() => readImageFacts(Buffer.concat([start, Buffer.alloc(1024 * 1024, Buffer.from(piece))])));
});
