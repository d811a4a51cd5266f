import { decodeActions } from './encoded-actions.ts';
import { foreignTags, type ForeignTag } from './foreign-tags.ts';
import { MAX_RENDERED_LENGTH } from './limits.ts';
import { expandSpintax, maskSpintax } from './spintax.ts';
import type { Template } from './template-parser.ts';
import { parseTemplate, renderTemplate } from './template.ts';

/** A field of a step that an author writes. */
export type MessageField = 'subject' | 'body_plain' | 'body_html';

/** A fault of one field. Line and column count from 1, in the text after spintax expansion. */
export interface MessageError {
  readonly field: MessageField | 'address';
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
}

/** One field, rendered for one recipient. */
export interface RenderedField {
  readonly text: string;
  readonly unresolved: readonly string[];
  readonly errors: readonly MessageError[];
}

const LIMITS = {
  length: `the rendered text is longer than ${MAX_RENDERED_LENGTH} characters`,
  work: 'rendering takes too much work: the template handles too much text',
} as const;

/**
 * Renders one authored field for one recipient. Spintax is expanded first, in the author's source only, so that braces
 * and bars in a contact's data are never syntax. Then merge fields are filled in. Values are HTML-escaped in
 * `body_html`, and percent-encoded inside URLs of the bodies. Never throws.
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
 * Campaign validation compares them with custom fields and earlier `.App` keys (campaign_variable_missing).
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
export function sourceWarnings(field: MessageField, source: string): ForeignTag[] {
  return foreignTags(source, { html: field === 'body_html' });
}

/** Returns the spintax seed of a field. Both bodies share one seed, so that parallel wordings agree. */
export function spintaxSeed(sendId: string, field: MessageField): string {
  return field === 'subject' ? `${sendId}/subject` : `${sendId}/body`;
}
