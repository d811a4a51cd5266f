import { foldText, MAX_CHARACTERS } from './features.ts';
import { decidingWords, LABELS, readText, type Label, type Reading } from './model.ts';
import { namedPerson, type NamedPerson } from './names.ts';
import { plainReply } from './plain-replies.ts';
import { laterTime, returnTime, type NamedTime } from './when.ts';

/** Kinds of answers. Several kinds can belong to one intent of the API. All subtypes of opt-outs are one kind. */
export type AnswerKind = 'opt_out' | Exclude<Label, 'stop' | 'erase' | 'legal'>;

/**
 * Subtype of an opt-out: no further emails (`stop`), also erasure of personal data (`erase`), or a complaint or legal
 * threat (`legal`).
 */
type OptOutForce = 'stop' | 'erase' | 'legal';

/** An answer as read by the trained model. */
export interface ReadReply {
  kind: AnswerKind;
  /** Probability (0 to 1) of the kind. */
  confidence: number;
  /** Probability (0 to 1) that the writer wants no further emails, regardless of the kind. */
  optOut: number;
  /** The most likely subtype of an opt-out, regardless of the kind. */
  force: OptOutForce;
  /** The most likely kind other than away notes and automatic answers. */
  spoken: AnswerKind;
}

/** An answer with the details of its kind. */
export interface Answer extends ReadReply {
  /** Words that contributed most to the kind, as in the text, strongest first. */
  words: string[];
  /** Time from which the writer may be contacted again (`not_now`), or is back (`out_of_office`). */
  time: NamedTime | null;
  /** Person to contact instead (`referral`), or stand-in (`out_of_office`). */
  person: NamedPerson | null;
}

/** Shift of the log-odds of each kind, computed from people's corrections. */
export type ReadingBias = Readonly<Partial<Record<AnswerKind, number>>>;

const NO_BIAS: ReadingBias = {};
const FORCES = ['stop', 'erase', 'legal'] as const;
const OTHER_KINDS = LABELS.filter((label): label is Exclude<Label, OptOutForce> => !FORCES.includes(label as never));
const MOST_WORDS = 5;
/**
 * Factor for the probability of an opt-out in a single sentence of a long text. It lowers that probability slightly
 * compared with the whole text.
 */
const SENTENCE_PART = 0.9;
/** Minimum probability of an opt-out in one sentence of a short text, below which only the whole text counts. */
const SURE_SENTENCE = 0.8;
/**
 * Limits in characters: minimum length of a text whose every sentence counts, and length of the part that is split into
 * sentences. `MAX_SENTENCES` limits their number.
 */
const LONG = 160;
const MOST_READ = 1_500;
const MAX_SENTENCES = 12;
const MIN_SENTENCE = 12;
const WORDS = /[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*/gu;

/**
 * Classifies a person's answer: one kind and its probability. If an opt-out is at least as likely as another kind, the
 * opt-out wins. Sends no requests, and returns the same result on every machine.
 */
export function readReply(text: string): ReadReply {
  return readingOf(text, readText(text));
}

/**
 * Reads a person's answer, with the words that the kind depends on and the details of the kind.
 * @param text the person's own words
 * @param receivedAt time of arrival, UTC
 * @param timezone IANA time zone of the writer, for days; UTC if absent or unknown
 * @param known the kind, if the message's headers state it
 * @param bias of the workspace; never lowers the probability of an opt-out
 */
export function readAnswer(
  text: string,
  receivedAt: Date,
  { timezone, known, bias }: { timezone?: string | undefined; known?: AnswerKind; bias?: ReadingBias | undefined } = {},
): Answer {
  const whole = readText(text);
  const read = readingOf(text, whole, bias);
  const kind = known ?? read.kind;
  return {
    ...read,
    kind,
    confidence: known ? 1 : read.confidence,
    words: asWritten(text, decidingWords(whole, kind === 'opt_out' ? FORCES : [kind], MOST_WORDS)),
    time:
      kind === 'not_now'
        ? laterTime(text, receivedAt, timezone)
        : kind === 'out_of_office'
          ? returnTime(text, receivedAt, timezone)
          : null,
    person: kind === 'referral' || kind === 'out_of_office' ? namedPerson(text) : null,
  };
}

function readingOf(text: string, whole: Reading, bias = NO_BIAS): ReadReply {
  const plain = plainReply(text);
  if (plain) return { kind: plain, confidence: 1, optOut: 0, force: 'stop', spoken: plain };
  const least = text.length < LONG ? SURE_SENTENCE : 0;
  const inSentences = sentencesIn(text)
    .map((one) => optOutOf(readText(one)))
    .filter((one) => one >= least);
  const optOut = Math.max(optOutOf(whole), ...inSentences.map((one) => SENTENCE_PART * one));
  const force = FORCES.toSorted((a, b) => probability(whole, b) - probability(whole, a))[0]!;
  const all = shifted(
    [
      { kind: 'opt_out' as AnswerKind, confidence: optOut },
      ...OTHER_KINDS.map((kind) => ({ kind: kind as AnswerKind, confidence: probability(whole, kind) })),
    ],
    bias,
  ).toSorted((a, b) => b.confidence - a.confidence);
  const spoken = all.find(({ kind }) => kind !== 'out_of_office' && kind !== 'automatic')!.kind;
  const shiftedOptOut = all.find(({ kind }) => kind === 'opt_out')!.confidence;
  // People's corrections may raise the probability of an opt-out, but never lower it.
  return { ...all[0]!, optOut: Math.max(optOut, shiftedOptOut), force, spoken };
}

/** Returns the probabilities after their log-odds were shifted by a bias. */
function shifted(
  kinds: { kind: AnswerKind; confidence: number }[],
  bias: ReadingBias,
): { kind: AnswerKind; confidence: number }[] {
  if (Object.keys(bias).length === 0) return kinds;
  const weighed = kinds.map(({ kind, confidence }) => ({ kind, confidence: confidence * Math.exp(bias[kind] ?? 0) }));
  const before = kinds.reduce((sum, { confidence }) => sum + confidence, 0);
  const after = weighed.reduce((sum, { confidence }) => sum + confidence, 0);
  return weighed.map(({ kind, confidence }) => ({ kind, confidence: Math.min(1, (confidence * before) / after) }));
}

function probability({ probabilities }: Reading, label: Label): number {
  return probabilities[LABELS.indexOf(label)]!;
}

function optOutOf(reading: Reading): number {
  return FORCES.reduce((sum, force) => sum + probability(reading, force), 0);
}

/** Returns the sentences at the beginning of a text; none for a text of one sentence. */
function sentencesIn(text: string): string[] {
  const parts = text
    .slice(0, MOST_READ)
    .split(/(?<=[.!?。！？।])\s+|\n+/u)
    .filter((part) => /\p{L}/u.test(part));
  if (parts.length < 2) return [];
  return parts.slice(0, MAX_SENTENCES).filter((part) => part.length >= MIN_SENTENCE);
}

/** Returns the words of a text that correspond to folded words. */
function asWritten(text: string, folded: readonly string[]): string[] {
  const written = new Map<string, string>();
  for (const [word] of text.slice(0, MAX_CHARACTERS).matchAll(WORDS)) {
    const form = foldText(word).trim();
    if (!written.has(form)) written.set(form, word);
  }
  return folded.flatMap((word) => written.get(word) ?? []);
}
