/** Image types that cannot contain scripts. */
type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

/** Type and size of an image, read from its headers without decoding it. */
export interface ImageFacts {
  type: ImageType;
  /** Number of pixels that a viewer must keep in memory: width times height. */
  pixels: number;
}

/**
 * Reads the type and size of an image from its own bytes, ignoring the type stated by a server. A PNG of a few
 * kilobytes can contain gigapixels. So call this before an image is displayed: it returns the largest number of pixels
 * that a viewer may allocate. Packages such as image-size 2.1 and probe-image-size 7.5 return only the nominal size.
 * For a GIF of one pixel with a frame of 60,000 by 60,000 they report one pixel. One of them reads only the first frame
 * of a JPEG.
 * @returns undefined for other types and for images without a readable size
 */
export function readImageFacts(bytes: Buffer): ImageFacts | undefined {
  const found = KINDS.find(({ begins }) => begins.test(bytes.toString('hex', 0, 16)));
  if (!found) return undefined;
  try {
    const [width, height] = found.size(bytes);
    return width > 0 && height > 0 ? { type: found.type, pixels: width * height } : undefined;
  } catch (error) {
    // The image ends before the field with its size.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

type Size = [width: number, height: number];
const NO_SIZE: Size = [0, 0];

/** Image types by their first bytes, in hexadecimal. */
const KINDS: readonly { type: ImageType; begins: RegExp; size: (bytes: Buffer) => Size }[] = [
  { type: 'image/png', begins: /^89504e470d0a1a0a/, size: sizeOfPng },
  { type: 'image/jpeg', begins: /^ffd8ff/, size: sizeOfJpeg },
  { type: 'image/gif', begins: /^474946383[79]61/, size: sizeOfGif },
  { type: 'image/webp', begins: /^52494646.{8}57454250/, size: sizeOfWebp },
];

/** Reads the size from IHDR, which is the first chunk (PNG, section 5.6). */
function sizeOfPng(bytes: Buffer): Size {
  return bytes.toString('latin1', 12, 16) === 'IHDR' ? [bytes.readUInt32BE(16), bytes.readUInt32BE(20)] : NO_SIZE;
}

/** Returns the largest size of all frame headers (T.81, B.2.2). Other segments are skipped by their length. */
function sizeOfJpeg(bytes: Buffer): Size {
  let largest: Size = NO_SIZE;
  for (let at = 2; at + 4 <= bytes.length;) {
    const marker = bytes.readUInt8(at + 1);
    if (bytes.readUInt8(at) !== 0xff) break;
    // Fill bytes may precede a marker.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) largest = larger(largest, [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)]);
    // This marker starts a scan: compressed data follows, and no further frame header is expected.
    if (marker === 0xda) break;
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return largest;
}

/**
 * Returns the larger of the screen and the first frame, because viewers enlarge the screen to the frame (GIF89a,
 * sections 18 and 20).
 */
function sizeOfGif(bytes: Buffer): Size {
  const screen: Size = [bytes.readUInt16LE(6), bytes.readUInt16LE(8)];
  let at = 13 + colorTable(bytes.readUInt8(10));
  // Extensions precede the first frame.
  while (bytes.readUInt8(at) === 0x21) {
    at += 2;
    while (bytes.readUInt8(at) > 0) at += 1 + bytes.readUInt8(at);
    at += 1;
  }
  if (bytes.readUInt8(at) !== 0x2c) return screen;
  const right = bytes.readUInt16LE(at + 1) + bytes.readUInt16LE(at + 5);
  const bottom = bytes.readUInt16LE(at + 3) + bytes.readUInt16LE(at + 7);
  return [Math.max(screen[0], right), Math.max(screen[1], bottom)];
}

/** Returns the size (bytes) of the color table that the flags announce. */
function colorTable(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 0x07) + 1) : 0;
}

/** Reads the size from the first chunk, which has one of three forms (RFC 9649, section 2). */
function sizeOfWebp(bytes: Buffer): Size {
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8X':
      return [1 + bytes.readUIntLE(24, 3), 1 + bytes.readUIntLE(27, 3)];
    case 'VP8 ':
      return [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff];
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return [1 + (bits & 0x3fff), 1 + ((bits >>> 14) & 0x3fff)];
    }
    default:
      return NO_SIZE;
  }
}

function larger(one: Size, other: Size): Size {
  return one[0] * one[1] >= other[0] * other[1] ? one : other;
}
