import { DOUBT, SURE } from '../domain/mail/inbound/intent.ts';
import { LABELS, shippedModel } from '../domain/mail/reading/model.ts';
import { isHeldOut, sentences, type Sentence } from '../training/corpus.ts';
import { confusion, measure, type Measured } from '../training/measure.ts';
import { Random } from '../training/random.ts';
import { mistyped } from '../training/variants.ts';
import type { BenchResult } from './context.ts';

const SEED = 1;
const THRESHOLDS = { sure: SURE, doubt: DOUBT };
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** Measures how the shipped model reads the people of training/people who were held out of its training. */
export async function run(): Promise<BenchResult> {
  const model = shippedModel();
  const all = sentences();
  const held = all.filter((sentence) => isHeldOut(sentence));
  const random = new Random(SEED);
  const damaged = held.map((sentence): Sentence => ({ ...sentence, text: mistyped(sentence.text, random) }));
  const clean = measure(model, held, THRESHOLDS);
  const noisy = measure(model, damaged, THRESHOLDS);
  const people = new Set(all.map(({ language, person }) => `${language}/${person}`)).size;
  const result: BenchResult = { figures: [], targets: [], raw: { clean, noisy } };
  const figure = (label: string, value: string) => result.figures.push({ label, value });
  figure(
    'sentences; people; languages',
    `${all.length}; ${people}; ${new Set(all.map(({ language }) => language)).size}; a fifth of the people held out: ${held.length} sentences`,
  );
  figure('opt-outs', optOuts(clean));
  figure('opt-outs, with a typing mistake in 20 characters', optOuts(noisy));
  for (const [kind, { right, all: of, taken }] of Object.entries(clean.kinds))
    figure(kind, `recall ${percent(right / of)}, precision ${percent(right / taken)}`);
  for (const [language, { heard, suppressed, all: of }] of Object.entries(clean.languages))
    figure(`opt-outs, ${language}`, `heard ${percent(heard / of)}, suppressed at once ${percent(suppressed / of)}`);
  for (const [kind, row] of Object.entries(confusion(model, held))) figure(`${kind}, read as`, row);
  const target = (what: string, got: number, wanted: number, isMost = false) =>
    result.targets.push({
      what,
      target: `${isMost ? '<=' : '>='} ${percent(wanted)}`,
      got: percent(got),
      met: isMost ? got <= wanted : got >= wanted,
    });
  target('opt-outs heard', clean.heard, 0.97);
  target('opt-outs suppressed at once', clean.suppressed, 0.9);
  target('precision of what is suppressed', clean.precision, 0.97);
  target('plain answers suppressed', clean.stopped, 0.01, true);
  target('opt-outs heard that typing mistakes lose', clean.heard - noisy.heard, 0.03, true);
  result.raw.labels = LABELS;
  return result;
}

function optOuts({ heard, suppressed, precision, stopped }: Measured): string {
  return `heard ${percent(heard)}, suppressed at once ${percent(suppressed)}; precision of what is suppressed ${percent(precision)}; plain answers suppressed ${percent(stopped)}`;
}
