import { classifyInbound } from '../../domain/mail/inbound/classify.ts';
import type { InboundClassification } from '../../domain/mail/inbound/classify.ts';
import { parseInbound } from '../../domain/mail/inbound/parse.ts';
import type { BounceCase, BounceTruth } from './corpus.ts';

/** Heron's classification of a message. A delay notice is not a bounce yet and is counted separately. */
type BounceReading = 'hard' | 'soft' | 'delay notice' | 'complaint' | 'automatic' | 'reply';

export const READINGS: readonly BounceReading[] = ['hard', 'soft', 'delay notice', 'complaint', 'automatic', 'reply'];
export const TRUTHS: readonly BounceTruth[] = ['hard', 'soft', 'no bounce'];

/** Score of a set of messages. Shares are from 0 to 1. */
export interface BounceScore {
  messages: number;
  table: Record<BounceTruth, Record<BounceReading, number>>;
  rightKind: number;
  hardPrecision: number;
  hardRecall: number;
  misses: {
    name: string;
    truth: BounceTruth;
    reading: BounceReading;
    found: InboundClassification;
    reasons: string[];
  }[];
}

/**
 * Classifies every message and counts the correct results. A result is correct if it has the kind (hard or soft) that
 * the corpus lists, or if it is not a bounce and the corpus lists none. A delay notice counts as soft, because the
 * corpus has no kind for such notices and lists them among the soft reasons.
 */
export async function scoreBounces(cases: readonly BounceCase[]): Promise<BounceScore> {
  const row = () => Object.fromEntries(READINGS.map((reading) => [reading, 0])) as Record<BounceReading, number>;
  const table = { hard: row(), soft: row(), 'no bounce': row() };
  const misses: BounceScore['misses'] = [];
  for (const { name, raw, truth, reasons } of cases) {
    const found = classifyInbound(await parseInbound(raw), {}, new Date());
    const reading = readingOf(found);
    table[truth][reading] += 1;
    if (!isRight(truth, reading)) misses.push({ name, truth, reading, found, reasons });
  }
  const calledHard = TRUTHS.reduce((sum, truth) => sum + table[truth].hard, 0);
  const areHard = READINGS.reduce((sum, reading) => sum + table.hard[reading], 0);
  return {
    messages: cases.length,
    table,
    rightKind: 1 - misses.length / cases.length,
    hardPrecision: table.hard.hard / calledHard,
    hardRecall: table.hard.hard / areHard,
    misses,
  };
}

function readingOf(found: InboundClassification): BounceReading {
  switch (found.kind) {
    case 'bounce':
      return found.bounceType;
    case 'complaint':
      return 'complaint';
    case 'reply':
      return 'reply';
    case 'out_of_office':
      return 'automatic';
    case 'automated':
      return found.reason === 'delivery_delayed' ? 'delay notice' : 'automatic';
  }
}

function isRight(truth: BounceTruth, reading: BounceReading): boolean {
  if (truth === 'no bounce') return reading === 'complaint' || reading === 'automatic';
  if (truth === 'soft') return reading === 'soft' || reading === 'delay notice';
  return reading === 'hard';
}
