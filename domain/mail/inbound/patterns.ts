/**
 * One regular expression out of alternatives, which may be spread over several lines.
 *
 * @param before pattern that precedes whichever alternative matches
 * @param after pattern that follows it
 */
export function anyOf(alternatives: readonly string[], flags: string, before = '', after = ''): RegExp {
  return new RegExp(`${before}(?:${alternatives.join('|')})${after}`, flags);
}
