/**
 * Joins alternatives into one regular expression. Each alternative is the source of a regular expression.
 * @param before pattern that precedes every alternative
 * @param after pattern that follows every alternative
 */
export function anyOf(alternatives: readonly string[], flags: string, before = '', after = ''): RegExp {
  return new RegExp(`${before}(?:${alternatives.join('|')})${after}`, flags);
}
