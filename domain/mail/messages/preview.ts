import { renderField, spintaxSeed } from './render-source.ts';
import type { MessageError, MessageField } from './render-source.ts';
import { headerText } from './text.ts';

/** Rendered part of the TemplatePreview schema. Empty lists are omitted. */
export interface MessagePreview {
  readonly subject?: string;
  readonly body_html?: string;
  readonly body_plain?: string;
  readonly errors?: string[];
  readonly unresolved?: string[];
}

const FIELDS: readonly MessageField[] = ['subject', 'body_html', 'body_plain'];

/** Returns an error as one line for the `errors` list of TemplatePreview. */
export function formatMessageError({ field, message, line, column }: MessageError): string {
  return line === undefined ? `${field}: ${message}` : `${field} ${line}:${column}: ${message}`;
}

/**
 * Renders the given fields as a send does, but without signature, footer or tracking. The same seed gives the same
 * spintax choices.
 */
export function previewMessage(
  fields: Readonly<Partial<Record<MessageField, string>>>,
  values: object,
  seed: string,
): MessagePreview {
  const texts: Partial<Record<MessageField, string>> = {};
  const errors: string[] = [];
  const unresolved = new Set<string>();
  for (const field of FIELDS) {
    const source = fields[field];
    if (source === undefined) continue;
    const rendered = renderField(field, source, values, spintaxSeed(seed, field));
    texts[field] = field === 'subject' ? headerText(rendered.text) : rendered.text;
    errors.push(...rendered.errors.map(formatMessageError));
    for (const placeholder of rendered.unresolved) unresolved.add(placeholder);
  }
  return {
    ...texts,
    ...(errors.length > 0 ? { errors } : {}),
    ...(unresolved.size > 0 ? { unresolved: [...unresolved] } : {}),
  };
}
