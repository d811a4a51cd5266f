const WIDTH = 120;

/**
 * Wraps a paragraph, or an item of a list, at 120 columns, but not inside code. Later lines have the indent of
 * `prefix`.
 */
export function wrap(text: string, prefix = ''): string {
  const lines: string[] = [];
  let line = prefix;
  for (const word of text.match(/(?:`[^`]*`|\S)+/g) ?? []) {
    const isFirst = line.trim() === prefix.trim();
    if (!isFirst && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = `${' '.repeat(prefix.length)}${word}`;
    } else line = isFirst && line === prefix ? `${line}${word}` : `${line} ${word}`;
  }
  return [...lines, line].join('\n');
}

/** Returns a text with a capital letter at its beginning and a full stop at its end. */
export function sentence(text: string): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}

/** Note at the head of every generated page. */
export const MADE = '`npm run docs` makes this page from the sources. Do not edit it.';
