/*
 * The command line prints text of strangers: names of leads, answers of mail servers. Terminals interpret some
 * characters as commands that change the window title, write to the clipboard or hide lines, so these are removed.
 */

/** Prints a value as JSON for programs. */
export function printJson(value: unknown): void {
  process.stdout.write(jsonText(value));
}

/** Prints lines for people. */
export function printLines(lines: readonly string[]): void {
  process.stdout.write(lineText(lines));
}

/** Returns a value as JSON with every control character escaped. JSON itself leaves U+007F to U+009F unescaped. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  return `${text.replaceAll(/[\u007f-\u009f]/g, (control) => `\\u00${control.charCodeAt(0).toString(16)}`)}\n`;
}

/** Removes control characters, and characters that reorder or hide text. */
export function lineText(lines: readonly string[]): string {
  return `${lines.join('\n').replaceAll(/(?![\n\t])[\p{Cc}\p{Cf}]/gu, '')}\n`;
}
