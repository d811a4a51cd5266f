import { DOUBT, replyIntent, SURE } from '../domain/mail/inbound/intent.ts';
import { shippedModel } from '../domain/mail/reading/model.ts';
import { namedPerson } from '../domain/mail/reading/names.ts';
import { laterTime, returnTime } from '../domain/mail/reading/when.ts';
import { isHeldOut, sentences, type Sentence } from '../training/corpus.ts';
import { measure, tally, type Measured } from '../training/measure.ts';
import { nameIn, timeIn } from '../training/names.ts';
import { seeded } from '../test/faults/random.ts';
import { mistyped } from '../training/variants.ts';
import type { BenchResult } from './context.ts';

const SEED = 1;
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/**
 * Measures the classification of held-out writers of training/people, by the application (rules and model) and by the
 * model alone. The targets apply to the application.
 */
export async function run(): Promise<BenchResult> {
  const all = sentences();
  const held = all.filter((sentence) => isHeldOut(sentence));
  const random = seeded(SEED);
  const damaged = held.map((sentence): Sentence => ({ ...sentence, text: mistyped(sentence.text, random) }));
  const clean = tally(held, asApplied);
  const noisy = tally(damaged, asApplied);
  const model = measure(shippedModel(), held, { sure: SURE, doubt: DOUBT });
  const result: BenchResult = { figures: [], targets: [], raw: { clean, noisy, model } };
  const figure = (label: string, value: string) => result.figures.push({ label, value });
  const people = new Set(all.map(({ language, person }) => `${language}/${person}`)).size;
  figure(
    'sentences; people; languages',
    `${all.length}; ${people}; ${new Set(all.map(({ language }) => language)).size}; a fifth of the people held out: ${held.length} sentences`,
  );
  figure('opt-outs', optOuts(clean));
  figure('opt-outs, with a typing mistake in 20 characters', optOuts(noisy));
  figure('opt-outs, by the model alone', optOuts(model));
  for (const [language, { heard, suppressed, all: of }] of Object.entries(clean.languages))
    figure(`opt-outs, ${language}`, `heard ${percent(heard / of)}, suppressed at once ${percent(suppressed / of)}`);
  for (const [kind, row] of Object.entries(model.readAs)) {
    const taken = Object.values(model.readAs).reduce((total, other) => total + (other[kind] ?? 0), 0);
    const right = row[kind] ?? 0;
    figure(`${kind}, by the model alone`, `recall ${percent(right / sumOf(row))}, precision ${percent(right / taken)}`);
  }
  for (const [kind, row] of Object.entries(model.readAs)) figure(`${kind}, read by the model as`, listed(row));
  for (const [kind, row] of Object.entries(clean.readAs)) figure(`${kind}, its intents`, listed(row));
  figure(
    'people named by referrals and away notes',
    found(held, nameIn, ({ text }) => Object.values(namedPerson(text) ?? {})),
  );
  for (const label of ['not_now', 'out_of_office'] as const)
    figure(
      `times named by ${label}, on any of twelve days of a year`,
      found(
        held.filter((sentence) => sentence.label === label),
        timeIn,
        timesRead,
      ),
    );
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
  return result;
}

/** Returns the times that the parser finds in a sentence, for messages that arrive on the first of any month. */
function timesRead({ text, label }: Sentence): string[] {
  const read = label === 'not_now' ? laterTime : returnTime;
  for (let month = 0; month < 12; month += 1) {
    const words = read(text, new Date(Date.UTC(2026, month, 1)))?.words;
    if (words !== undefined) return [words];
  }
  return [];
}

/** Returns the share of sentences with a time or date for which the parser finds the time or date. */
function found(
  of: readonly Sentence[],
  named: (sentence: Sentence) => string,
  read: (sentence: Sentence) => (string | null)[],
): string {
  const naming = of.filter((sentence) => named(sentence) !== '');
  const right = naming.filter((sentence) =>
    read(sentence).some((words) => words !== null && named(sentence).toLowerCase().includes(words.toLowerCase())),
  );
  return `${percent(right.length / naming.length)} of ${naming.length}`;
}

/** Classifies a reply as the application does. */
function asApplied(text: string): ReturnType<Parameters<typeof tally>[1]> {
  const { intent, unsubscribeRequest, unsubscribeDoubtful } = replyIntent(text, 'Re: Hello');
  return { kind: intent, heard: unsubscribeRequest ? 'asked' : unsubscribeDoubtful ? 'doubtful' : null };
}

function sumOf(row: Record<string, number>): number {
  return Object.values(row).reduce((total, count) => total + count, 0);
}

function listed(row: Record<string, number>): string {
  return Object.entries(row)
    .toSorted(([, a], [, b]) => b - a)
    .map(([kind, count]) => `${kind} ${count}`)
    .join(', ');
}

function optOuts({ heard, suppressed, precision, stopped }: Measured): string {
  return `heard ${percent(heard)}, suppressed at once ${percent(suppressed)}; precision of what is suppressed ${percent(precision)}; plain answers suppressed ${percent(stopped)}`;
}
