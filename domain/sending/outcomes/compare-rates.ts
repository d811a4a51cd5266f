/** What came of the emails of one variant. */
export interface Sample {
  sent: number;
  successes: number;
}

/** The chance of calling a winner where there is no difference, over all looks together. */
const ALPHA = 0.05;
/** The difference of rates (share of emails) that the test is tuned to see early; it finds any other one as well. */
const TYPICAL_DIFFERENCE = 0.05;

/**
 * The best of several samples, if it is better than every other one beyond chance; null when it is not (yet). The test
 * may be repeated after every email without finding winners by repetition: it compares the likelihood of the observed
 * difference under a normal mixture of differences with that under none (a mixture sequential probability ratio test),
 * and asks for a ratio of 1 in 5 %, divided among the comparisons.
 */
export function compareRates(samples: readonly Sample[]): { best: number } | null {
  const rates = samples.map(({ sent, successes }) => successes / sent);
  const best = rates.indexOf(Math.max(...rates));
  const needed = (samples.length - 1) / ALPHA;
  const beaten = samples.every((other, index) => index === best || likelihoodRatio(samples[best]!, other) >= needed);
  return beaten && samples.length > 1 ? { best } : null;
}

/** How much likelier the difference of two samples is when there is one. */
function likelihoodRatio(a: Sample, b: Sample): number {
  // A success and a failure more, so that a sample without either is not taken for certain.
  const pooled = (a.successes + b.successes + 1) / (a.sent + b.sent + 2);
  const variance = pooled * (1 - pooled) * (1 / a.sent + 1 / b.sent);
  const mixed = TYPICAL_DIFFERENCE ** 2;
  const difference = a.successes / a.sent - b.successes / b.sent;
  if (difference <= 0) return 0;
  return (
    Math.sqrt(variance / (variance + mixed)) * Math.exp((mixed * difference ** 2) / (2 * variance * (variance + mixed)))
  );
}
