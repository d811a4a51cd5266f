import { MAX_ACTION_LENGTH } from './limits.ts';

const COMMENT_OPENING = /\{\{(?:-\s)?\s*\/\*/y;
const COMMENT_CLOSING = /\*\/(?:\s+-)?\s*\}\}/;

/**
 * Returns the index just past the `}}` of the template action that opens at `open`, or -1 if no action opens there.
 * Templates and spintax both call this function, so that they interpret each brace in the same way. Outside quotes and
 * comments an action contains no brace. Therefore `{{a|b}|c}` is nested spintax, and `{{{.City}}|there}` is a group
 * whose first alternative is an action.
 */
export function findActionEnd(source: string, open: number): number {
  if (!source.startsWith('{{', open)) return -1;
  const limit = Math.min(source.length, open + MAX_ACTION_LENGTH);
  COMMENT_OPENING.lastIndex = open;
  const comment = COMMENT_OPENING.exec(source);
  if (comment) {
    const body = open + comment[0].length;
    const closing = COMMENT_CLOSING.exec(source.slice(body, limit));
    return closing ? body + closing.index + closing[0].length : -1;
  }
  let index = open + 2;
  while (index < limit) {
    const character = source[index];
    if (character === '"' || character === '`') {
      index = skipQuoted(source, index, limit);
      if (index < 0) return -1;
    } else if (character === '{') {
      return -1;
    } else if (character === '}') {
      return source[index + 1] === '}' ? index + 2 : -1;
    } else {
      index += 1;
    }
  }
  return -1;
}

/** Returns the index just past the string literal that opens at `open`, or -1 if the literal is not closed. */
function skipQuoted(source: string, open: number, limit: number): number {
  const quote = source[open];
  for (let index = open + 1; index < limit; index += 1) {
    const character = source[index];
    if (character === quote) return index + 1;
    if (quote === '"' && character === '\\') index += 1;
    if (quote === '"' && character === '\n') return -1;
  }
  return -1;
}
