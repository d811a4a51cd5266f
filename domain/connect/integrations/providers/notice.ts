import { z } from 'zod';
import type { ActionInput } from './provider.ts';
import { fillText, templateText } from './texts.ts';
import { message } from '../../../../messages/index.ts';
import { render } from '../../../../messages/render.ts';

/** Maximum number of characters of a person's text for a notice. */
const MAX_MESSAGE = 2_000;

/** The text in a notice's config, common to all chats, in the template language of campaigns. */
export const noticeMessage = templateText(MAX_MESSAGE)
  .optional()
  .describe('The text, such as `{{.first_name}} has replied`. Without it Heron says what happened and to whom.');

/**
 * Returns the text of a notice: the text of the config, or a default with the event and the contact. `escape` escapes
 * values for the chat.
 * @throws Refused for a text that exceeds the limit
 */
export function noticeText(input: ActionInput, escape: (value: string) => string): string {
  const own = z.string().optional().parse(input.config.message);
  const text = fillText(own ?? defaultMessage(input), input, { escape });
  return input.isTest ? render(message('connect.test_notice', { text })) : text;
}

function defaultMessage({ contact, data }: ActionInput): string {
  const who = contact
    ? '{{.first_name | default ""}} {{.last_name | default ""}} {{.email}}{{if .company}}, {{.company}}{{end}}'
    : '';
  const lines = [`{{.trigger}} ${who}`.trim()];
  for (const key of ['campaign_name', 'subject', 'name', 'scheduled_for'])
    if (typeof data[key] === 'string' && data[key] !== '') lines.push(`${key.replaceAll('_', ' ')}: {{.${key}}}`);
  return lines.join('\n');
}
