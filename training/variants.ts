import type { Random } from '../test/faults/random.ts';

const LATIN = 'abcdefghijklmnopqrstuvwxyz';

/**
 * Returns a text with about one typing mistake in 20 characters: a letter omitted, doubled, exchanged with its
 * neighbour, or replaced.
 */
export function mistyped(text: string, random: Random): string {
  const letters = [...text];
  for (let left = Math.max(1, Math.floor(letters.length / 20)); left > 0; left -= 1) {
    const at = below(letters.length, random);
    const letter = letters[at];
    if (letter === undefined || letter === '\n') continue;
    const kind = below(4, random);
    if (kind === 0) letters.splice(at, 1);
    else if (kind === 1) letters.splice(at, 0, letter);
    else if (kind === 2) letters.splice(at, 2, ...letters.slice(at, at + 2).toReversed());
    else letters[at] = random.pick([...LATIN]);
  }
  return letters.join('');
}

function below(count: number, random: Random): number {
  return Math.floor(random.next() * count);
}

/** Transliterations of Cyrillic letters, as people write them. */
const CYRILLIC: Readonly<Record<string, readonly string[]>> = {
  а: ['a'],
  б: ['b'],
  в: ['v', 'w'],
  г: ['g', 'h'],
  ґ: ['g'],
  д: ['d'],
  е: ['e', 'ye'],
  ё: ['yo', 'e'],
  є: ['ye', 'ie'],
  ж: ['zh', 'j'],
  з: ['z'],
  и: ['i', 'y'],
  і: ['i'],
  ї: ['yi', 'i'],
  й: ['y', 'j', 'i'],
  к: ['k'],
  л: ['l'],
  м: ['m'],
  н: ['n'],
  о: ['o'],
  п: ['p'],
  р: ['r'],
  с: ['s'],
  т: ['t'],
  у: ['u'],
  ф: ['f'],
  х: ['h', 'kh', 'x'],
  ц: ['c', 'ts'],
  ч: ['ch', '4'],
  ш: ['sh', '6'],
  щ: ['sht', 'shch', 'sch'],
  ъ: ['y', 'a', 'u'],
  ы: ['y', 'i'],
  ь: ['', "'"],
  э: ['e'],
  ю: ['yu', 'ju'],
  я: ['ya', 'ja', 'q'],
};
const GREEK: Readonly<Record<string, readonly string[]>> = {
  α: ['a'],
  β: ['v', 'b'],
  γ: ['g'],
  δ: ['d'],
  ε: ['e'],
  ζ: ['z'],
  η: ['i', 'h'],
  θ: ['th', '8'],
  ι: ['i'],
  κ: ['k'],
  λ: ['l'],
  μ: ['m'],
  ν: ['n'],
  ξ: ['ks', 'x', '3'],
  ο: ['o'],
  π: ['p'],
  ρ: ['r'],
  σ: ['s'],
  ς: ['s'],
  τ: ['t'],
  υ: ['y', 'u', 'i'],
  φ: ['f', 'ph'],
  χ: ['x', 'h', 'ch'],
  ψ: ['ps'],
  ω: ['o', 'w'],
};
const DEVANAGARI: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries({
    अ: 'a',
    आ: 'aa|a',
    इ: 'i',
    ई: 'ee|i',
    उ: 'u',
    ऊ: 'oo|u',
    ए: 'e',
    ऐ: 'ai',
    ओ: 'o',
    औ: 'au',
    क: 'k',
    ख: 'kh',
    ग: 'g',
    घ: 'gh',
    च: 'ch',
    छ: 'chh',
    ज: 'j',
    झ: 'jh',
    ट: 't',
    ठ: 'th',
    ड: 'd',
    ढ: 'dh',
    ण: 'n',
    त: 't',
    थ: 'th',
    द: 'd',
    ध: 'dh',
    न: 'n',
    प: 'p',
    फ: 'ph|f',
    ब: 'b',
    भ: 'bh',
    म: 'm',
    य: 'y',
    र: 'r',
    ल: 'l',
    व: 'v|w',
    श: 'sh',
    ष: 'sh',
    स: 's',
    ह: 'h',
    'ा': 'a|aa',
    'ि': 'i',
    'ी': 'i|ee',
    'ु': 'u',
    'ू': 'u|oo',
    'े': 'e',
    'ै': 'ai',
    'ो': 'o',
    'ौ': 'au',
    'ं': 'n',
    'ँ': 'n',
    '्': '',
    '़': '',
    '।': '.',
  }).map(([letter, ways]) => [letter, ways.split('|')]),
);
const CONSONANT = /[क-ह]/;
const VOWEL_SIGN = /[ा-ौ़्]/;
const HANGUL = {
  first: 'g kk n d tt r m b pp s ss  j jj ch k t p h'.split(' '),
  middle: 'a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i'.split(' '),
  last: ' k k k n n n t l k m l l l p l m p p t t ng t t k t p t'.split(' '),
};
const HANGUL_START = 0xac00;
const HANGUL_END = 0xd7a3;

/** Returns the text transliterated to Latin letters, or unchanged if it contains no known letters of another script. */
export function latinized(text: string, random: Random): string {
  // Each writer transliterates a letter in one way.
  const ways = new Map<string, string>();
  const letters = [...text.normalize('NFC').toLowerCase()];
  return letters
    .map((letter, index) => {
      const code = letter.charCodeAt(0);
      if (code >= HANGUL_START && code <= HANGUL_END) return romanized(code - HANGUL_START);
      const plain = letter.normalize('NFD').replace(/[\u0300-\u036f]/g, '');
      const known = CYRILLIC[letter] ?? GREEK[plain] ?? DEVANAGARI[letter];
      if (!known) return letter;
      const way = ways.get(letter) ?? random.pick(known);
      ways.set(letter, way);
      // A consonant without a sign has its own vowel, which is silent at the end of a word.
      const next = letters[index + 1] ?? ' ';
      return CONSONANT.test(letter) && !VOWEL_SIGN.test(next) && /\p{L}/u.test(next) ? `${way}a` : way;
    })
    .join('');
}

function romanized(place: number): string {
  const last = HANGUL.last.length;
  const middle = HANGUL.middle.length;
  return `${HANGUL.first[Math.floor(place / (middle * last))]}${HANGUL.middle[Math.floor(place / last) % middle]}${HANGUL.last[place % last]}`;
}
