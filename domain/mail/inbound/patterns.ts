/**
 * Joins alternatives, each of which may span several lines, into one regular expression.
 * @param before pattern that precedes every alternative
 * @param after pattern that follows every alternative
 */
export function anyOf(alternatives: readonly string[], flags: string, before = '', after = ''): RegExp {
  return new RegExp(`${before}(?:${alternatives.join('|')})${after}`, flags);
}
