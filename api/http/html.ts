import { escapeHtml } from '../../domain/mail/messages/text.ts';

/** HTML that is safe to send. Only {@link html} creates it, so every value in it is escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Part = string | number | Html | null | undefined | false | readonly Part[];

/**
 * Template tag that escapes its values, for content and for quoted attributes. Joins lists; renders null, undefined and
 * false as nothing.
 */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(strings.reduce((text, string, index) => text + written(parts[index - 1]) + string));
}

function written(part: Part): string {
  if (part instanceof Html) return part.text;
  if (part === null || part === undefined || part === false) return '';
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part));
  return part.map(written).join('');
}
