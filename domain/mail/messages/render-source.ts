import { joined, message, type Message } from '../../../messages/index.ts';
import { decodeActions } from './encoded-actions.ts';
import { foreignTags } from './foreign-tags.ts';
import { MAX_RENDERED_LENGTH } from './limits.ts';
import { expandSpintax, maskSpintax } from './spintax.ts';
import type { Template, TemplateError } from './template-parser.ts';
import { parseTemplate, renderTemplate } from './template.ts';

/** Text field of a campaign step, which an author writes. */
export type MessageField = 'subject' | 'body_plain' | 'body_html';

/** A fault of one field. Line and column are counted from 1, in the text after spintax expansion. */
export interface MessageError {
  readonly field: MessageField | 'address';
  readonly message: Message;
  readonly line?: number;
  readonly column?: number;
}

/** A field rendered for one recipient. */
export interface RenderedField {
  readonly text: string;
  readonly unresolved: readonly string[];
  readonly errors: readonly MessageError[];
}

const LIMITS = {
  length: message('template.rendered_too_long', { max: MAX_RENDERED_LENGTH }),
  work: message('template.too_much_work'),
} as const;

/** Maximum number of faults stored with an email that could not be composed. */
const MAX_STORED_FAULTS = 5;

/**
 * Renders one authored field for one recipient. Spintax is expanded first and only in the author's source, so that
 * braces and bars in a contact's data are never syntax. Merge fields are filled in afterwards. Values are HTML-escaped
 * in `body_html`, and percent-encoded inside URLs of the bodies. Never throws.
 */
export function renderField(field: MessageField, source: string, values: object, seed: string): RenderedField {
  const html = field === 'body_html';
  const template = parseTemplate(expandSpintax(decodeActions(source), seed, { html }), { html });
  const options = { escapeHtml: html, encodeInUrls: field !== 'subject' };
  const { text, unresolved, exceeded } = renderTemplate(template, values, options);
  const errors: MessageError[] = template.errors.map((error) => ({ field, ...error }));
  if (exceeded) errors.push({ field, message: LIMITS[exceeded] });
  return { text, unresolved, errors };
}

/**
 * Returns the faults and field references of an authored source, over all spintax options and without a recipient.
 * Campaign validation checks if the referenced custom fields and `.App` keys exist (campaign_variable_missing).
 */
export function inspectSource(field: MessageField, source: string): Pick<Template, 'errors' | 'references'> {
  const html = field === 'body_html';
  const { errors, references } = parseTemplate(maskSpintax(decodeActions(source), { html }), { html });
  return { errors, references };
}

/**
 * Returns warnings about an authored source that do not prevent sending: merge tags of other tools, with their
 * positions.
 */
export function sourceWarnings(field: MessageField, source: string): TemplateError[] {
  return foreignTags(source, { html: field === 'body_html' });
}

/** Returns a fault with its position, as one sentence. */
export function faultWithPlace({ field, message: fault, line, column }: MessageError): Message {
  return line === undefined || column === undefined
    ? message('template.fault', { field, fault })
    : message('template.fault_at', { field, line, column, fault });
}

/** Returns the first faults of an email that could not be rendered, as one message. `errors` must not be empty. */
export function faultsWithPlaces(errors: readonly MessageError[]): Message {
  return joined(errors.slice(0, MAX_STORED_FAULTS).map(faultWithPlace));
}

/** Returns the spintax seed of a field. Both bodies share one seed, so that they choose the same wording. */
export function spintaxSeed(sendId: string, field: MessageField): string {
  return field === 'subject' ? `${sendId}/subject` : `${sendId}/body`;
}
