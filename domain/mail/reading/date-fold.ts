const SAME_LETTERS: Readonly<Record<string, string>> = { ß: 'ss', ł: 'l', đ: 'd', ø: 'o', æ: 'ae', ı: 'i', ς: 'σ' };
const DASHES = /[‐‑‒–—―−]/;
const APOSTROPHES = /[‘’ʼ´`]/;

/** A text folded for the search for dates. `places` maps each position to its position in the original text. */
interface Folded {
  text: string;
  places: number[];
}

/** Numbers in Chinese characters before a month, day or length of time. Weekdays have them behind "week". */
const HAN_NUMBER =
  /(?<![一二三四五六七八九十廿卅期周週拜])[一二三四五六七八九十廿卅]{1,4}(?=[月日号號週周年]|[个個箇ヶケか]月)/gu;
const HAN_DIGITS = '〇一二三四五六七八九';

/**
 * Folds a text: lower case, no diacritics, one kind of dash, apostrophe, space and digit, also for numbers in Chinese
 * characters. Line breaks are kept.
 */
export function foldForDates(text: string): Folded {
  const numbers = new Map(Array.from(text.matchAll(HAN_NUMBER), ({ index, 0: number }) => [index, number] as const));
  let folded = '';
  const places: number[] = [];
  let at = 0;
  let numberEnd = 0;
  for (const letter of text) {
    const number = numbers.get(at);
    if (number !== undefined) {
      for (const digit of String(hanNumber(number))) {
        folded += digit;
        places.push(at);
      }
      numberEnd = at + number.length;
    }
    if (at < numberEnd) {
      at += letter.length;
      continue;
    }
    for (const one of foldedLetter(letter)) {
      if (one === ' ' && folded.endsWith(' ')) continue;
      folded += one;
      for (let unit = 0; unit < one.length; unit += 1) places.push(at);
    }
    at += letter.length;
  }
  places.push(at);
  return { text: folded, places };
}

/** Returns the value of a number below 100, such as 二十一. */
function hanNumber(number: string): number {
  const plain = number.replace('廿', '二十').replace('卅', '三十');
  const [tens, ones] = plain.includes('十') ? plain.split('十', 2) : ['〇', plain];
  return 10 * (tens === '' ? 1 : HAN_DIGITS.indexOf(tens!)) + Math.max(0, HAN_DIGITS.indexOf(ones!));
}

function foldedLetter(letter: string): string {
  if (letter >= 'a' && letter <= 'z') return letter;
  if (letter !== '\n' && /\s/.test(letter)) return ' ';
  if (DASHES.test(letter)) return '-';
  if (APOSTROPHES.test(letter)) return "'";
  const plain = letter
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase();
  if (/^\p{Nd}$/u.test(plain) && plain > '9') return String(digitOf(plain));
  return [...plain].map((one) => SAME_LETTERS[one] ?? one).join('');
}

/** The ten digits of a script have consecutive code points. */
function digitOf(digit: string): number {
  const code = digit.codePointAt(0)!;
  let zero = code;
  while (/^\p{Nd}$/u.test(String.fromCodePoint(zero - 1)) && code - zero < 9) zero -= 1;
  return code - zero;
}
