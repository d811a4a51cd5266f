import type { ApprovalRow } from '../../db/models/approval.ts';
import type { Config } from '../../lib/config/index.ts';
import type { SystemMessage } from '../../lib/mail/index.ts';
import { escapeHtml, headerText } from '../mail/messages/text.ts';
import { approvalUrl } from './link.ts';
import { message, type Language, type Message } from '../../messages/index.ts';
import { render } from '../../messages/render.ts';

/** A person who may decide about an approval, and the approval's workspace. */
export interface Approver {
  userId: string;
  email: string;
  workspace: string;
  language: Language | undefined;
}

/**
 * Maximum number of characters that are shown of a name or title. It is limited because an agent has chosen the text.
 */
const LONGEST = 120;

/**
 * Builds the email about a waiting approval. Its only link opens the approval's page, where the person signs in.
 * Opening the link decides nothing.
 * @param nextAt time from which further emails are sent; set only on the last one that the hourly limit permits
 */
export function approvalMail(
  config: Pick<Config, 'APP_URL'>,
  { id, payload, requester_name, api_key_id, reasons, expires_at }: ApprovalRow,
  { email, workspace, language }: Approver,
  nextAt: Date | null,
): SystemMessage {
  const say = (said: Message) => render(said, language);
  const name = oneLine(requester_name);
  const title = oneLine(say(payload.title));
  const by = { name, workspace: oneLine(workspace) };
  const facts: [name: string, value: string][] = [
    [say(message('mail.approval_action')), title],
    [
      say(message('mail.approval_requester')),
      say(message(api_key_id ? 'mail.approval_by_key' : 'mail.approval_by_application', by)),
    ],
    [
      say(message('mail.approval_recipients')),
      say(message('mail.approval_people', { count: payload.recipients.count })),
    ],
    [say(message('mail.approval_from')), say(sendersOf(payload.senders))],
    [say(message('mail.approval_until')), say(message('mail.moment', { at: expires_at.toISOString() }))],
    [say(message('mail.approval_reasons')), reasons.map(({ message: said }) => oneLine(say(said))).join('; ')],
  ];
  const link = approvalUrl(config, id);
  const lead = say(message('mail.approval'));
  const after = say(message('mail.approval_link'));
  const more = nextAt ? say(message('mail.approval_last', { at: nextAt.toISOString() })) : '';
  return {
    to: email,
    subject: say(message('mail.approval.subject', { requester: name, title })),
    text: [
      lead,
      facts.map(([label, value]) => `${`${label}:`.padEnd(15)}${value}`).join('\n'),
      `    ${link}`,
      after,
      ...(more ? [more] : []),
      '',
    ].join('\n\n'),
    html: `<!doctype html><html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body style="font-family: sans-serif; line-height: 1.5; max-width: 36em; margin: 1em auto; padding: 0 1em">
<p>${escapeHtml(lead)}</p>
<table cellpadding="4" style="border-collapse: collapse">${facts
      .map(
        ([label, value]) =>
          `<tr><th align="left" valign="top" style="white-space: nowrap">${escapeHtml(label)}</th><td>${escapeHtml(value)}</td></tr>`,
      )
      .join('')}</table>
<p><a href="${escapeHtml(link)}" style="display: inline-block; padding: 0.6em 1.2em; background: #1f5fbf; color: #fff; text-decoration: none">${escapeHtml(say(message('mail.approval_button')))}</a></p>
<p>${escapeHtml(link)}</p>
<p>${escapeHtml(after)}</p>
${more ? `<p>${escapeHtml(more)}</p>\n` : ''}</body></html>
`,
  };
}

function sendersOf([first, ...rest]: ApprovalRow['payload']['senders']): Message {
  if (!first) return message('mail.approval_no_mailbox');
  return rest.length === 0
    ? message('sentence.as_is', { text: first.email })
    : message('mail.approval_more_senders', { email: first.email, count: rest.length });
}

/** Converts a text that an agent has chosen to one line, and shortens it. */
function oneLine(text: string): string {
  const line = headerText(text);
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST - 1).replace(/\p{Surrogate}$/u, '')}…`;
}
