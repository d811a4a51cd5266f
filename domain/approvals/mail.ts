import type { ApprovalRow } from '../../db/models/approval.ts';
import type { Config } from '../../lib/config/index.ts';
import type { SystemMessage } from '../../lib/mail/index.ts';
import { escapeHtml, headerText } from '../mail/messages/text.ts';
import { approvalUrl } from './link.ts';

/** A person who may decide, in the workspace of the approval. */
export interface Approver {
  userId: string;
  email: string;
  workspace: string;
}

/** Characters of a name or a title that are shown: an agent chose them. */
const LONGEST = 120;

/**
 * The mail that tells a person what waits for their decision. Its one link leads to the page of the approval, where they sign in; nothing in the
 * mail decides by itself.
 * @param nextAt set on the last mail that the person gets for now: from then on there will be others
 */
export function approvalMail(
  config: Pick<Config, 'APP_URL'>,
  { id, payload, requester_name, api_key_id, reasons, expires_at }: ApprovalRow,
  { email, workspace }: Approver,
  nextAt: Date | null,
): SystemMessage {
  const who = oneLine(requester_name);
  const title = oneLine(payload.title);
  const kind = api_key_id ? 'an API key' : 'an application';
  const facts: [name: string, value: string][] = [
    ['What', title],
    ['Asked for by', `${who}, ${kind} of the workspace ${oneLine(workspace)}`],
    ['Recipients', payload.recipients.count === 1 ? '1 person' : `${payload.recipients.count} people`],
    ['From', sendersOf(payload.senders)],
    ['Decide until', moment(expires_at)],
    ['Why it waits', reasons.map(({ message }) => oneLine(message)).join('; ')],
  ];
  const link = approvalUrl(config, id);
  const lead = 'This waits for a person, and you may decide on it:';
  const after = 'Opening the link decides nothing: you sign in, see what exactly would be sent, and approve or deny.';
  const more = nextAt
    ? `You have had as many of these mails as one person gets in an hour. Until ${moment(nextAt)} others that wait are in the list of approvals alone.`
    : '';
  return {
    to: email,
    subject: `${who} asks: ${title}`,
    text: [
      lead,
      facts.map(([name, value]) => `${`${name}:`.padEnd(15)}${value}`).join('\n'),
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
        ([name, value]) =>
          `<tr><th align="left" valign="top" style="white-space: nowrap">${escapeHtml(name)}</th><td>${escapeHtml(value)}</td></tr>`,
      )
      .join('')}</table>
<p><a href="${escapeHtml(link)}" style="display: inline-block; padding: 0.6em 1.2em; background: #1f5fbf; color: #fff; text-decoration: none">See it and decide</a></p>
<p>${escapeHtml(link)}</p>
<p>${escapeHtml(after)}</p>
${more ? `<p>${escapeHtml(more)}</p>\n` : ''}</body></html>
`,
  };
}

function sendersOf(senders: ApprovalRow['payload']['senders']): string {
  const [first, ...rest] = senders;
  if (!first) return 'no mailbox';
  return rest.length === 0 ? first.email : `${first.email} and ${rest.length} more`;
}

/** On one line and not long, as agents choose it. */
function oneLine(text: string): string {
  const line = headerText(text);
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST - 1).replace(/\p{Surrogate}$/u, '')}…`;
}

/** A moment as people read it; nothing is known of their time zone. */
function moment(date: Date): string {
  return `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
