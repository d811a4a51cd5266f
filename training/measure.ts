import { LABELS, readText, type Label, type Model } from '../domain/mail/reading/model.ts';
import type { Sentence } from './corpus.ts';

/** Labels of requests to stop. */
const ASKING: ReadonlySet<Label> = new Set(['stop', 'erase', 'legal']);

/** A text with the classification by a person or a model. */
interface Read {
  kind: string;
  /** `asked`: an opt-out that is applied at once. `doubtful`: a person must decide. Null for other texts. */
  heard: 'asked' | 'doubtful' | null;
}

export interface Measured {
  /**
   * Shares (0 to 1) of opt-outs that are suppressed at once, and that are detected: suppressed, or stopped until a
   * person decides.
   */
  suppressed: number;
  heard: number;
  /** Share of the suppressed answers that are opt-outs. */
  precision: number;
  /** Share of the answers without an opt-out that are suppressed. */
  stopped: number;
  /** Share of other answers about which a person must decide. */
  asked: number;
  /** Number of sentences by kind, and by classified kind. */
  readAs: Record<string, Record<string, number>>;
  languages: Record<string, { heard: number; suppressed: number; all: number }>;
}

/** Probabilities of an opt-out above which it is applied at once, and above which a person must decide. */
export interface Thresholds {
  sure: number;
  doubt: number;
}

/** Measures a model without rules on sentences of writers that it was not trained on. */
export function measure(model: Model, sentences: readonly Sentence[], thresholds: Thresholds): Measured {
  return measureEach(model, sentences, [thresholds])[0]!;
}

/** Variant of {@link measure} for several thresholds, which reads each sentence once. */
export function measureEach(
  model: Model,
  sentences: readonly Sentence[],
  thresholds: readonly Thresholds[],
): Measured[] {
  const read = new Map(sentences.map(({ text }) => [text, judged(readText(text, model).probabilities)]));
  return thresholds.map(({ sure, doubt }) =>
    tally(sentences, (text) => {
      const { optOut, kind } = read.get(text)!;
      return { kind, heard: optOut >= sure ? 'asked' : optOut >= doubt ? 'doubtful' : null };
    }),
  );
}

/** Counts the classifications of sentences. */
export function tally(sentences: readonly Sentence[], read: (text: string) => Read): Measured {
  const readAs: Measured['readAs'] = {};
  const languages: Measured['languages'] = {};
  let [plain, wrong, asked] = [0, 0, 0];
  for (const { text, label, language } of sentences) {
    const { kind, heard } = read(text);
    const row = (readAs[ASKING.has(label) ? 'opt_out' : label] ??= {});
    row[kind] = (row[kind] ?? 0) + 1;
    if (!ASKING.has(label)) {
      plain += 1;
      if (heard === 'asked') wrong += 1;
      if (heard === 'doubtful') asked += 1;
      continue;
    }
    const place = (languages[language] ??= { heard: 0, suppressed: 0, all: 0 });
    place.all += 1;
    if (heard !== null) place.heard += 1;
    if (heard === 'asked') place.suppressed += 1;
  }
  const sum = (part: 'heard' | 'suppressed' | 'all') =>
    Object.values(languages).reduce((total, place) => total + place[part], 0);
  const suppressed = sum('suppressed');
  return {
    suppressed: suppressed / sum('all'),
    heard: sum('heard') / sum('all'),
    precision: suppressed / (suppressed + wrong),
    stopped: wrong / plain,
    asked: asked / plain,
    readAs,
    languages,
  };
}

/** Returns the likeliest kind, with all opt-outs as one kind, and the probability of an opt-out. */
function judged(probabilities: Float64Array): { optOut: number; kind: string } {
  let optOut = 0;
  let other: { kind: string; probability: number } = { kind: '', probability: 0 };
  for (const [place, label] of LABELS.entries()) {
    const probability = probabilities[place]!;
    if (ASKING.has(label)) optOut += probability;
    else if (probability > other.probability) other = { kind: label, probability };
  }
  return { optOut, kind: other.probability > optOut ? other.kind : 'opt_out' };
}
