/*
 * What the command line prints holds words of strangers: names of leads, answers of mail servers. A terminal takes some characters for commands that
 * retitle its window, write to the clipboard or hide lines, so none of them gets there.
 */

/** Prints a value as JSON, which means the same to programs. */
export function printJson(value: unknown): void {
  process.stdout.write(jsonText(value));
}

/** Prints lines for people. */
export function printLines(lines: readonly string[]): void {
  process.stdout.write(lineText(lines));
}

/** A value as JSON with every control character escaped; JSON itself leaves those of U+007F to U+009F as they are. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  return `${text.replaceAll(/[\u007f-\u009f]/g, (control) => `\\u00${control.charCodeAt(0).toString(16)}`)}\n`;
}

/** Lines without what a terminal obeys, and without characters that reorder or hide what stands beside them. */
export function lineText(lines: readonly string[]): string {
  return `${lines.join('\n').replaceAll(/(?![\n\t])[\p{Cc}\p{Cf}]/gu, '')}\n`;
}
