import { LABELS, readText, type Model } from '../domain/mail/reading/model.ts';
import type { Sentence } from './corpus.ts';

/** Labels that ask to stop. */
const OPT_OUT = 3;

export interface Measured {
  /** Share (0 to 1) of opt-outs that are suppressed at once, and that are heard: suppressed, or stopped and asked. */
  suppressed: number;
  heard: number;
  /** Share of what is suppressed that asked for it, and of other answers that are suppressed. */
  precision: number;
  stopped: number;
  /** Right, of the kind, and taken for the kind, by kind. */
  kinds: Record<string, { right: number; all: number; taken: number }>;
  languages: Record<string, { heard: number; suppressed: number; all: number }>;
}

interface Thresholds {
  sure: number;
  doubt: number;
}

/** Measures a model on sentences of people that it has not met. */
export function measure(model: Model, sentences: readonly Sentence[], { sure, doubt }: Thresholds): Measured {
  const kinds: Measured['kinds'] = {};
  const byLanguage: Measured['languages'] = {};
  let [optOuts, heard, suppressed, wrong] = [0, 0, 0, 0];
  for (const { text, label, language } of sentences) {
    const asks = LABELS.indexOf(label) < OPT_OUT;
    const { optOut, kind: taken } = judged(readText(text, model).probabilities);
    const kind = asks ? 'opt_out' : label;
    const counted = (kinds[kind] ??= { right: 0, all: 0, taken: 0 });
    counted.all += 1;
    if (taken === kind) counted.right += 1;
    (kinds[taken] ??= { right: 0, all: 0, taken: 0 }).taken += 1;
    if (!asks) {
      if (optOut >= sure) wrong += 1;
      continue;
    }
    const place = (byLanguage[language] ??= { heard: 0, suppressed: 0, all: 0 });
    optOuts += 1;
    place.all += 1;
    if (optOut >= doubt) {
      heard += 1;
      place.heard += 1;
    }
    if (optOut >= sure) {
      suppressed += 1;
      place.suppressed += 1;
    }
  }
  return {
    suppressed: suppressed / optOuts,
    heard: heard / optOuts,
    precision: suppressed / (suppressed + wrong),
    stopped: wrong / (sentences.length - optOuts),
    kinds,
    languages: byLanguage,
  };
}

/** The kinds that sentences of each kind are read as, most frequent first. */
export function confusion(model: Model, sentences: readonly Sentence[]): Record<string, string> {
  const table: Record<string, Record<string, number>> = {};
  for (const { text, label } of sentences) {
    const row = (table[LABELS.indexOf(label) < OPT_OUT ? 'opt_out' : label] ??= {});
    const { kind } = judged(readText(text, model).probabilities);
    row[kind] = (row[kind] ?? 0) + 1;
  }
  return Object.fromEntries(
    Object.entries(table).map(([kind, row]) => [
      kind,
      Object.entries(row)
        .toSorted(([, a], [, b]) => b - a)
        .map(([taken, count]) => `${taken} ${count}`)
        .join(', '),
    ]),
  );
}

/** The likeliest kind, opt-outs of every force together, and how likely an opt-out is. */
function judged(probabilities: Float64Array): { optOut: number; kind: string } {
  const optOut = probabilities.slice(0, OPT_OUT).reduce((sum, one) => sum + one, 0);
  let kind = 'opt_out';
  let highest = optOut;
  for (let label = OPT_OUT; label < LABELS.length; label += 1)
    if (probabilities[label]! > highest) {
      kind = LABELS[label]!;
      highest = probabilities[label]!;
    }
  return { optOut, kind };
}
