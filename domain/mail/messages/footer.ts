import { escapeHtml, headerText } from './text.ts';

/** Form of the opt-out in a message: a sentence, a link, or none. */
export type UnsubscribeMode = 'text' | 'link' | 'off';

/** The unsubscribe block of AdvancedOutreachSettings. The defaults replace missing values. */
export interface UnsubscribeSettings {
  readonly mode?: UnsubscribeMode;
  readonly text?: string;
  readonly link_intro?: string;
  readonly link_text?: string;
}

/** The opt-out footer as plain text and HTML. Both are empty if the mode is `off`. */
interface Footer {
  readonly text: string;
  readonly html: string;
}

/** Default texts, used for blank settings. */
export const UNSUBSCRIBE_DEFAULTS = {
  mode: 'text',
  text: 'If you would rather not hear from me again, reply "unsubscribe" and I will not write any more.',
  link_intro: 'Would you rather not hear from me again?',
  link_text: 'Unsubscribe',
} as const satisfies Required<UnsubscribeSettings>;

/** Maximum length (characters) of an unsubscribe text. */
export const MAX_UNSUBSCRIBE_COPY = 300;

/** Builds the footer. The texts are single-line plain text, not templates, and are escaped in the HTML form. */
export function buildFooter(settings: UnsubscribeSettings, unsubscribeUrl: string): Footer {
  const mode = settings.mode ?? UNSUBSCRIBE_DEFAULTS.mode;
  if (mode === 'off') return { text: '', html: '' };
  if (mode === 'text') {
    const text = copy(settings.text, UNSUBSCRIBE_DEFAULTS.text);
    return { text, html: wrap(escapeHtml(text)) };
  }
  const intro = copy(settings.link_intro, UNSUBSCRIBE_DEFAULTS.link_intro);
  const label = copy(settings.link_text, UNSUBSCRIBE_DEFAULTS.link_text);
  return {
    text: `${intro} ${label}: ${unsubscribeUrl}`,
    html: wrap(`${escapeHtml(intro)} <a href="${escapeHtml(unsubscribeUrl)}">${escapeHtml(label)}</a>`),
  };
}

function copy(value: string | undefined, fallback: string): string {
  return headerText(value ?? '').slice(0, MAX_UNSUBSCRIBE_COPY) || fallback;
}

function wrap(html: string): string {
  return `<p style="margin-top:24px;font-size:12px;color:#666666">${html}</p>`;
}
