/** Counts of one variant's emails. */
export interface Sample {
  sent: number;
  successes: number;
}

/** Probability of declaring a winner although the variants do not differ, over all repetitions of the test. */
const ALPHA = 0.05;
/** Difference of rates (share of emails) that the test detects fastest. Other differences are reported too. */
const TYPICAL_DIFFERENCE = 0.05;

/**
 * Returns the best sample if its lead over every other is significant. Otherwise returns null. Uses a mixture
 * sequential probability ratio test. The test compares the likelihood of the observed difference under a normal mixture
 * of differences with the likelihood under no difference. A winner needs a ratio of 1 / ALPHA, multiplied by the number
 * of comparisons. The test may be repeated after every email without producing false winners.
 */
export function compareRates(samples: readonly Sample[]): { best: number } | null {
  const rates = samples.map(({ sent, successes }) => successes / sent);
  const best = rates.indexOf(Math.max(...rates));
  const needed = (samples.length - 1) / ALPHA;
  const beaten = samples.every((other, index) => index === best || likelihoodRatio(samples[best]!, other) >= needed);
  return beaten && samples.length > 1 ? { best } : null;
}

/** Standard score of a 95 % interval. */
const Z = 1.96;

/**
 * Returns the interval (0 to 1) that contains the true rate with 95 % confidence, by Wilson's score. Without emails it
 * is the whole range. Unlike the sequential test, a comparison of two intervals is valid only once, not after every
 * email.
 */
export function rateInterval({ sent, successes }: Sample): { low: number; high: number } {
  if (sent === 0) return { low: 0, high: 1 };
  const rate = successes / sent;
  const centre = rate + Z ** 2 / (2 * sent);
  const spread = Z * Math.sqrt((rate * (1 - rate)) / sent + Z ** 2 / (4 * sent ** 2));
  const whole = 1 + Z ** 2 / sent;
  return { low: Math.max(0, (centre - spread) / whole), high: Math.min(1, (centre + spread) / whole) };
}

/** Returns the ratio of two likelihoods of the observed difference: if the variants differ, and if they do not. */
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
