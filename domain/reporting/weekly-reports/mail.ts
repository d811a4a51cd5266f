import type { Config } from '../../../lib/config/index.ts';
import type { SystemMessage } from '../../../lib/mail/index.ts';
import { escapeHtml, headerText } from '../../mail/messages/text.ts';
import { FIGURES, type Figures, type WeeklyFigures } from './figures.ts';

/** Who gets a report, and of which week. */
interface Reader {
  email: string;
  workspace: string;
  /** The Monday on which the week began, YYYY-MM-DD. */
  week: string;
  timezone: string;
  /** Ends the mails to this member of this workspace, without a sign-in. */
  unsubscribeUrl: string;
}

const LABELS: Record<keyof Figures, string> = {
  sent: 'Sent',
  delivered: 'Delivered',
  replies: 'Replies',
  positive: 'Positive replies',
  bounces: 'Bounces',
  complaints: 'Complaints',
  opt_outs: 'Opt-outs',
};
const LONGEST_NAME = 80;
/** Mailboxes in trouble that are listed. */
const LISTED = 10;
/** Characters of a full bar in plain text; pixels in HTML. */
const BAR = { characters: 20, pixels: 240 };

/**
 * The report as a mail. Its charts are table cells with a colour: they need no picture, which many mail programs do not load, no library, and no
 * part that a filter could take for an attachment, and the plain text has the same bars.
 */
export function weeklyReportMail(
  config: Pick<Config, 'APP_URL'>,
  figures: WeeklyFigures,
  reader: Reader,
): SystemMessage {
  const workspace = oneLine(reader.workspace);
  return {
    to: reader.email,
    subject: `${workspace}: ${figures.now.sent} sent, ${figures.now.replies} replies in the week of ${reader.week}`,
    text: plainReport(config, figures, reader, workspace),
    html: htmlReport(config, figures, reader, workspace),
    headers: {
      'List-Unsubscribe': `<${reader.unsubscribeUrl}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    },
  };
}

function plainReport(
  config: Pick<Config, 'APP_URL'>,
  figures: WeeklyFigures,
  reader: Reader,
  workspace: string,
): string {
  const { now, before, best, troubled, intents } = figures;
  const most = Math.max(1, now.sent, before.sent);
  const bar = (count: number, of: number) => '#'.repeat(barLength(count, of, BAR.characters));
  const known = intents.filter(({ count }) => count > 0);
  const mostReplies = Math.max(1, ...known.map(({ count }) => count));
  return [
    `${workspace}, week of ${reader.week} (${reader.timezone})`,
    FIGURES.map(
      (name) => `${LABELS[name].padEnd(17)}${String(now[name]).padStart(8)}   ${changeOf(now[name], before[name])}`,
    ).join('\n'),
    `Sent this week    ${bar(now.sent, most)} ${now.sent}\nSent the week before ${bar(before.sent, most)} ${before.sent}`,
    known.length === 0
      ? 'No reply came into a connected mailbox.'
      : `Replies by intent\n${known.map(({ intent, count }) => `${words(intent).padEnd(17)} ${bar(count, mostReplies)} ${count}`).join('\n')}`,
    best
      ? `Best campaign: ${oneLine(best.name)} (${best.positive} positive of ${best.replies} replies, ${best.reply_rate} % of ${best.sent} sent)`
      : 'No campaign was answered.',
    troubled.length === 0
      ? 'All mailboxes are well.'
      : `Mailboxes in trouble\n${[...troubled.slice(0, LISTED).map(({ email, issues }) => `${email}: ${issues.map(oneLine).join('; ')}`), ...moreOf(troubled.length)].join('\n')}`,
    config.APP_URL,
    `You get this because your workspace has weekly reports on. To stop it: ${reader.unsubscribeUrl}`,
    '',
  ].join('\n\n');
}

function htmlReport(
  config: Pick<Config, 'APP_URL'>,
  figures: WeeklyFigures,
  reader: Reader,
  workspace: string,
): string {
  const { now, before, best, troubled, intents } = figures;
  const most = Math.max(1, now.sent, before.sent);
  const known = intents.filter(({ count }) => count > 0);
  const mostReplies = Math.max(1, ...known.map(({ count }) => count));
  return `<!doctype html><html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body style="font-family: sans-serif; line-height: 1.5; max-width: 40em; margin: 1em auto; padding: 0 1em">
<h1 style="font-size: 1.2em">${escapeHtml(workspace)}, week of ${reader.week}</h1>
<table cellpadding="4" style="border-collapse: collapse">${FIGURES.map(
    (name) =>
      `<tr><th align="left">${LABELS[name]}</th><td align="right"><b>${now[name]}</b></td><td>${escapeHtml(changeOf(now[name], before[name]))}</td></tr>`,
  ).join('')}</table>
<h2 style="font-size: 1em">Sent</h2>
${bars(
  [
    ['This week', now.sent],
    ['The week before', before.sent],
  ],
  most,
)}
<h2 style="font-size: 1em">Replies by intent</h2>
${
  known.length === 0
    ? '<p>No reply came into a connected mailbox.</p>'
    : bars(
        known.map(({ intent, count }) => [words(intent), count]),
        mostReplies,
      )
}
<p>${
    best
      ? `Best campaign: <b>${escapeHtml(oneLine(best.name))}</b> (${best.positive} positive of ${best.replies} replies, ${best.reply_rate} % of ${best.sent} sent)`
      : 'No campaign was answered.'
  }</p>
${
  troubled.length === 0
    ? '<p>All mailboxes are well.</p>'
    : `<h2 style="font-size: 1em">Mailboxes in trouble</h2><ul>${[
        ...troubled
          .slice(0, LISTED)
          .map(({ email, issues }) => `<li>${escapeHtml(email)}: ${escapeHtml(issues.map(oneLine).join('; '))}</li>`),
        ...moreOf(troubled.length).map((line) => `<li>${line}</li>`),
      ].join('')}</ul>`
}
<p><a href="${escapeHtml(config.APP_URL)}">Open Heron</a></p>
<p style="font-size: 0.85em; color: #555">You get this because your workspace has weekly reports on. A week is from Monday to Sunday in ${escapeHtml(reader.timezone)}.
<a href="${escapeHtml(reader.unsubscribeUrl)}">Stop these mails</a></p>
</body></html>
`;
}

/** A bar chart of table cells. */
function bars(rows: readonly (readonly [label: string, count: number])[], most: number): string {
  return `<table cellpadding="3" style="border-collapse: collapse">${rows
    .map(([label, count]) => {
      const width = barLength(count, most, BAR.pixels);
      const cell =
        width === 0
          ? ''
          : `<table cellpadding="0" cellspacing="0" width="${width}"><tr><td height="14" bgcolor="#1f5fbf" style="background: #1f5fbf; font-size: 1px">&nbsp;</td></tr></table>`;
      return `<tr><td>${escapeHtml(label)}</td><td width="${BAR.pixels}">${cell}</td><td align="right">${count}</td></tr>`;
    })
    .join('')}</table>`;
}

/** The length of a bar; what is not nothing is seen. */
function barLength(count: number, most: number, full: number): number {
  return count === 0 ? 0 : Math.max(1, Math.round((count / most) * full));
}

function changeOf(now: number, before: number): string {
  if (now === before) return 'as the week before';
  const sign = now > before ? '+' : '-';
  const share = before === 0 ? '' : ` (${sign}${Math.round((Math.abs(now - before) / before) * 100)} %)`;
  return `${sign}${Math.abs(now - before)}${share}, ${before} the week before`;
}

function moreOf(count: number): string[] {
  return count > LISTED ? [`and ${count - LISTED} more`] : [];
}

const words = (intent: string) => intent.replaceAll('_', ' ');

/** On one line and not long: people and agents choose it. */
function oneLine(text: string): string {
  const line = headerText(text);
  return line.length <= LONGEST_NAME ? line : `${line.slice(0, LONGEST_NAME - 1).replace(/\p{Surrogate}$/u, '')}…`;
}
