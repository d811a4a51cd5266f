import { decidingWords, LABELS, readText, type Label, type Reading } from './model.ts';

/** Kinds of answers, finer than the intents that the API shows; opt-outs of every force are one kind. */
type AnswerKind = 'opt_out' | Exclude<Label, 'stop' | 'erase' | 'legal'>;

/** The wish of an opt-out: no further emails, also that personal data are erased, also a complaint or a threat of law. */
type OptOutForce = 'stop' | 'erase' | 'legal';

interface ReadReply {
  kind: AnswerKind;
  /** Probability (0 to 1) of the kind. */
  confidence: number;
  /** Probability (0 to 1) that the writer wants no further emails. */
  optOut: number;
  /** The likeliest force, whatever the kind. */
  force: OptOutForce;
  /** Words that spoke most for the kind, folded, strongest first. */
  words: string[];
}

const FORCES = ['stop', 'erase', 'legal'] as const;
const OTHER_KINDS = LABELS.filter((label): label is Exclude<Label, OptOutForce> => !FORCES.includes(label as never));
const MOST_WORDS = 5;
/** A wish in one sentence of a longer text counts a little less than a text that is nothing else. */
const SENTENCE_PART = 0.9;
/** Characters from which a text is long, characters of it that are read by sentences, and the most sentences. */
const LONG = 160;
const MOST_READ = 1_500;
const MAX_SENTENCES = 12;
const MIN_SENTENCE = 12;

/**
 * The probability (0 to 1) that the writer of a reply wants no further emails. Needs no network; the same text is read alike on every machine.
 * @param whole the reading of the text, where the caller has it
 */
export function optOutProbability(text: string, whole: Reading = readText(text)): number {
  return Math.max(optOutOf(whole), ...sentencesIn(text).map((one) => SENTENCE_PART * optOutOf(readText(one))));
}

/** Reads what a person has answered: one kind, how certain it is, and by which words. */
export function readReply(text: string): ReadReply {
  const whole = readText(text);
  const optOut = optOutProbability(text, whole);
  const { kind, confidence } = likeliest(whole, optOut);
  return {
    kind,
    confidence,
    optOut,
    force: FORCES.toSorted((a, b) => probability(whole, b) - probability(whole, a))[0]!,
    words: decidingWords(whole, kind === 'opt_out' ? FORCES : [kind], MOST_WORDS),
  };
}

function likeliest(whole: Reading, optOut: number): { kind: AnswerKind; confidence: number } {
  let found: { kind: AnswerKind; confidence: number } = { kind: 'opt_out', confidence: optOut };
  for (const kind of OTHER_KINDS) {
    const confidence = probability(whole, kind);
    if (confidence > found.confidence) found = { kind, confidence };
  }
  return found;
}

function probability({ probabilities }: Reading, label: Label): number {
  return probabilities[LABELS.indexOf(label)]!;
}

function optOutOf(reading: Reading): number {
  return FORCES.reduce((sum, force) => sum + probability(reading, force), 0);
}

/** Sentences at the beginning of a long text. */
function sentencesIn(text: string): string[] {
  if (text.length < LONG) return [];
  const parts = text
    .slice(0, MOST_READ)
    .split(/(?<=[.!?。！？।])\s+|\n+/u)
    .filter((part) => /\p{L}/u.test(part));
  if (parts.length < 2) return [];
  return parts.slice(0, MAX_SENTENCES).filter((part) => part.length >= MIN_SENTENCE);
}
