import jschardet from 'jschardet';
import iconv from 'iconv-lite';
import type { EncodingGuess } from './encoding.ts';

/** An encoding with one or two bytes per character, and the top-level domains of countries that use it. */
interface Candidate {
  encoding: string;
  /** Name of the encoding in the detector. */
  detector: string;
  domains: string;
  /**
   * For encodings with two bytes per character: ranges that contain the first byte of most characters in usual text.
   */
  usual?: readonly [from: number, to: number][];
}

const CANDIDATES: readonly Candidate[] = [
  { encoding: 'windows-1252', detector: 'windows-1252', domains: 'de fr es it pt nl be at ch br mx se no dk fi ie is' },
  { encoding: 'windows-1250', detector: 'windows-1250', domains: 'pl cz sk hu ro hr si rs ba' },
  { encoding: 'windows-1251', detector: 'windows-1251', domains: 'ru ua bg by kz mk su' },
  { encoding: 'windows-1253', detector: 'windows-1253', domains: 'gr cy' },
  { encoding: 'windows-1254', detector: 'windows-1254', domains: 'tr' },
  { encoding: 'windows-1255', detector: 'windows-1255', domains: 'il' },
  { encoding: 'windows-1256', detector: 'windows-1256', domains: 'ae sa eg ma dz tn jo kw qa ir' },
  { encoding: 'windows-1257', detector: 'windows-1257', domains: 'lt lv ee' },
  { encoding: 'windows-1258', detector: 'windows-1258', domains: 'vn' },
  { encoding: 'windows-874', detector: 'windows-874', domains: 'th' },
  { encoding: 'iso-8859-2', detector: 'iso-8859-2', domains: '' },
  { encoding: 'koi8-r', detector: 'koi8-r', domains: 'ru su' },
  { encoding: 'koi8-u', detector: 'koi8-u', domains: 'ua' },
  { encoding: 'ibm866', detector: 'cp866', domains: '' },
  { encoding: 'cp850', detector: 'cp850', domains: '' },
  { encoding: 'macintosh', detector: 'macroman', domains: '' },
  {
    encoding: 'shift_jis',
    detector: 'cp932',
    domains: 'jp',
    usual: [
      [0x81, 0x83],
      [0x88, 0x97],
    ],
  },
  {
    encoding: 'euc-jp',
    detector: 'euc-jp',
    domains: 'jp',
    usual: [
      [0xa4, 0xa5],
      [0xb0, 0xcf],
    ],
  },
  { encoding: 'gb18030', detector: 'gb18030', domains: 'cn', usual: [[0xb0, 0xd7]] },
  { encoding: 'big5', detector: 'big5', domains: 'tw hk', usual: [[0xa4, 0xc6]] },
  { encoding: 'euc-kr', detector: 'cp949', domains: 'kr', usual: [[0xb0, 0xc8]] },
];

/**
 * Weights of the evidence for an encoding: the detector's result, readable words, and the countries of the email
 * addresses.
 */
const WEIGHT = { detector: 0.35, words: 0.5, domains: 0.15 };
/** Lead of the most frequent encoding. A few accents say little about the others. */
const WESTERN = 0.005;
/**
 * Bounds of the confidence, which grows with the distance to the second-best encoding. An older encoding is never
 * certain.
 */
const MOST_CONFIDENT = 0.95;
const LEAST_CONFIDENT = 0.4;

/** Guesses the encoding of text that is not UTF-8, from its lines with non-ASCII bytes. */
export function legacyEncoding(sample: Buffer): EncodingGuess {
  const detected = new Map(
    jschardet
      .detectAll(sample, { detectEncodings: CANDIDATES.map(({ detector }) => detector), minimumThreshold: 0 })
      .map(({ encoding, confidence }) => [encoding?.toLowerCase(), confidence]),
  );
  const words = wordsBeyondAscii(sample);
  const countries = domainsIn(sample.toString('latin1'));
  // Without words only single signs such as a dash are left, which are weak evidence. Most files with such signs are
  // Western.
  if (words.length === 0) return { encoding: 'windows-1252', confidence: LEAST_CONFIDENT };
  // Excel for the Mac ends lines of this encoding with a carriage return alone.
  const hasMacLines = sample.includes(0x0d) && !sample.includes(0x0a);
  let best = { encoding: 'windows-1252', score: 0 };
  let second = 0;
  for (const { encoding, detector, domains, usual } of CANDIDATES) {
    const readable = mean(words.map((word) => plausibility(word, encoding, usual)));
    const home = mean(countries.map((country) => (domains.split(' ').includes(country) ? 1 : 0)));
    const lead = encoding === 'windows-1252' ? WESTERN : 0;
    const isMac = encoding === 'macintosh' && hasMacLines;
    const detection = isMac ? 1 : (detected.get(detector) ?? 0);
    const score = WEIGHT.detector * detection + WEIGHT.words * readable + WEIGHT.domains * home + lead;
    if (score > best.score) {
      second = best.score;
      best = { encoding, score };
    } else second = Math.max(second, score);
  }
  const confidence = LEAST_CONFIDENT + 2 * (best.score - second);
  return { encoding: best.encoding, confidence: Math.min(MOST_CONFIDENT, Math.round(confidence * 100) / 100) };
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

const MAX_WORDS = 400;

/**
 * Returns sequences of bytes between separators that contain non-ASCII bytes. ASCII bytes are included, because the
 * second byte of a character may be ASCII.
 */
function wordsBeyondAscii(sample: Buffer): Buffer[] {
  const words: Buffer[] = [];
  let start = 0;
  for (let at = 0; at <= sample.length && words.length < MAX_WORDS; at += 1) {
    const byte = sample[at];
    if (byte !== undefined && (byte >= 0x80 || (byte >= 0x41 && byte <= 0x7e))) continue;
    const word = sample.subarray(start, at);
    if (word.length > 1 && word.some((each) => each >= 0x80)) words.push(word);
    start = at + 1;
  }
  return words;
}

function domainsIn(text: string): string[] {
  return [...text.matchAll(/@[\w.-]+\.([a-z]{2})\b/gi)].map(([, country]) => country!.toLowerCase());
}

const SCRIPTS = [
  /^[\p{Script=Latin}\p{M}'’.-]+$/u,
  /^[\p{Script=Cyrillic}\p{M}'’.-]+$/u,
  /^[\p{Script=Greek}\p{M}'’.-]+$/u,
  /^[א-ת\u05b0-\u05bc'"’.-]+$/u,
  /^[\p{Script=Arabic}\p{M}.،-]+$/u,
  /^[\p{Script=Thai}\p{M}.-]+$/u,
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々・（）　-]+$/u,
  /^[\p{Script=Hangul}\p{Script=Han}（）-]+$/u,
];
/**
 * Signs of misread text: a capital after a small letter, two capitals before one, three equal letters in a row, rare
 * letters, symbols and broken characters.
 */
const ODD =
  /\p{Ll}\p{Lu}|^\p{Lu}{2}\p{Ll}|[Ÿƒﬁﬂ]|(\p{L})\1\1|[\p{Sc}\p{So}\p{Sm}\p{Sk}\p{No}\p{Cc}\p{Co}\p{Cn}\ufffd¡¿«»“”„‰†‡…•]/u;
/** Typographic signs, which stand alone between words. */
const SIGNS = /^[“”„«»‘’€–—…•™]+$/u;
const HALF_WIDTH = /[\uff61-\uff9f]/u;

/** Rates a word decoded with an encoding, from 0 to 1. Returns -1 if the bytes are invalid in the encoding. */
function plausibility(word: Buffer, encoding: string, usual: Candidate['usual']): number {
  const text = iconv.decode(word, encoding);
  if (text.includes('\ufffd')) return -1;
  if (HALF_WIDTH.test(text)) return 0.1;
  if (SIGNS.test(text)) return 0.9;
  // A word may contain ASCII, as in "GmbH", but all its letters must belong to one script.
  if (ODD.test(text.replace(/^[(„“"«]+|[)“”"».…]+$/g, ''))) return 0;
  if (!SCRIPTS.some((script) => script.test(text))) return 0.2;
  return usual ? shareOfUsual(word, usual) : 0.9;
}

function shareOfUsual(word: Buffer, usual: readonly [from: number, to: number][]): number {
  let characters = 0;
  let common = 0;
  for (let at = 0; at < word.length; at += 1) {
    const byte = word[at]!;
    if (byte < 0x80) continue;
    characters += 1;
    if (usual.some(([from, to]) => byte >= from && byte <= to)) common += 1;
    at += 1;
  }
  return characters === 0 ? 0 : common / characters;
}
