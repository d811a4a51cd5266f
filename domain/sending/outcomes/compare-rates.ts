/** Counts of one variant's emails. */
export interface Sample {
  sent: number;
  successes: number;
}

/** Probability of declaring a winner when there is no difference, over all repeated tests together. */
const ALPHA = 0.05;
/** Difference of rates (share of emails) that the test detects fastest. Other differences are reported too. */
const TYPICAL_DIFFERENCE = 0.05;

/**
 * Returns the best sample if its lead over every other is significant, else null. Uses a mixture sequential probability
 * ratio test. The test compares the likelihood of the observed difference under a normal mixture of differences with
 * the likelihood under no difference. A winner needs a ratio of 1 / ALPHA, multiplied by the number of comparisons. The
 * test may be repeated after every email without producing false winners.
 */
export function compareRates(samples: readonly Sample[]): { best: number } | null {
  const rates = samples.map(({ sent, successes }) => successes / sent);
  const best = rates.indexOf(Math.max(...rates));
  const needed = (samples.length - 1) / ALPHA;
  const beaten = samples.every((other, index) => index === best || likelihoodRatio(samples[best]!, other) >= needed);
  return beaten && samples.length > 1 ? { best } : null;
}

/** Returns how much likelier the difference of two samples is if a real difference exists. */
function likelihoodRatio(a: Sample, b: Sample): number {
  // Adds one success and one failure, so that a sample without either is not treated as certain.
  const pooled = (a.successes + b.successes + 1) / (a.sent + b.sent + 2);
  const variance = pooled * (1 - pooled) * (1 / a.sent + 1 / b.sent);
  const mixed = TYPICAL_DIFFERENCE ** 2;
  const difference = a.successes / a.sent - b.successes / b.sent;
  if (difference <= 0) return 0;
  return (
    Math.sqrt(variance / (variance + mixed)) * Math.exp((mixed * difference ** 2) / (2 * variance * (variance + mixed)))
  );
}
