const SAME_LETTERS: Readonly<Record<string, string>> = { ß: 'ss', ł: 'l', đ: 'd', ø: 'o', æ: 'ae', ı: 'i', ς: 'σ' };
const DASHES = /[‐‑‒–—―−]/;
const APOSTROPHES = /[‘’ʼ´`]/;

/** A text folded for the search for dates. `places` maps each position to its position in the original text. */
interface Folded {
  text: string;
  places: number[];
}

/** Folds a text: lower case, no diacritics, one kind of dash, apostrophe, space and digit. Line breaks are kept. */
export function foldForDates(text: string): Folded {
  let folded = '';
  const places: number[] = [];
  let at = 0;
  for (const letter of text) {
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
