import type { Config } from '../../../lib/config/index.ts';
import type { SystemMessage } from '../../../lib/mail/index.ts';
import { message, type Language, type Message } from '../../../messages/index.ts';
import { render } from '../../../messages/render.ts';
import { escapeHtml, headerText } from '../../mail/messages/text.ts';
import { FIGURES, type WeeklyFigures } from './figures.ts';

/** The recipient and the week of a report. */
interface Reader {
  email: string;
  workspace: string;
  /** Monday on which the week began, YYYY-MM-DD. */
  week: string;
  timezone: string;
  language: Language;
  /** URL that unsubscribes this member of this workspace without a sign-in. */
  unsubscribeUrl: string;
}

const LONGEST_NAME = 80;
/** Maximum number of listed mailboxes with problems. */
const LISTED = 10;
/** Length of a full bar: characters in plain text, pixels in HTML. */
const BAR = { characters: 20, pixels: 240 };

/** Renders a message in the language of the report's reader. */
type Say = (said: Message) => string;

/** Texts of a report in the reader's language, for both bodies of the mail. */
interface Words {
  heading: string;
  figures: { label: string; now: number; change: string }[];
  sent: (readonly [label: string, count: number])[];
  replies: (readonly [label: string, count: number])[];
  best: string;
  /** Mailboxes with problems, one line each. Empty when all are healthy. */
  mailboxes: string[];
  week: string;
}

/**
 * Renders the report as a mail. The charts are coloured table cells, because many mail programs block images. The plain
 * text contains the same bars.
 */
export function weeklyReportMail(
  { APP_URL: appUrl }: Pick<Config, 'APP_URL'>,
  figures: WeeklyFigures,
  reader: Reader,
): SystemMessage {
  const { sent, replies } = figures.now;
  const { week, email: to, unsubscribeUrl } = reader;
  const say: Say = (said) => render(said, reader.language);
  const words = wordsOf(figures, reader, say);
  return {
    to,
    subject: say(message('report.subject', { workspace: oneLine(reader.workspace), sent, replies, week })),
    text: plainReport(words, say, { appUrl, unsubscribeUrl }),
    html: htmlReport(words, say, { appUrl, unsubscribeUrl }),
    headers: {
      'List-Unsubscribe': `<${unsubscribeUrl}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    },
  };
}

function wordsOf({ now, before, best, troubled, intents }: WeeklyFigures, reader: Reader, say: Say): Words {
  const { workspace, week, timezone, language } = reader;
  return {
    heading: say(message('report.heading', { workspace: oneLine(workspace), week })),
    figures: FIGURES.map((name) => ({
      label: say(message(`report.${name}`)),
      now: now[name],
      change: changeOf(now[name], before[name], say),
    })),
    sent: [
      [say(message('report.this_week')), now.sent],
      [say(message('report.week_before')), before.sent],
    ],
    replies: intents
      .filter(({ count }) => count > 0)
      .map(({ intent, count }) => [say(message(`report.intent_${intent}`)), count]),
    best: say(
      best
        ? message('report.best_campaign', {
            name: oneLine(best.name),
            positive: best.positive,
            replies: best.replies,
            rate: best.reply_rate,
            sent: best.sent,
          })
        : message('report.no_best_campaign'),
    ),
    mailboxes: [
      ...troubled
        .slice(0, LISTED)
        .map(({ email, issues }) => `${email}: ${issues.map((issue) => oneLine(render(issue, language))).join('; ')}`),
      ...(troubled.length > LISTED ? [say(message('report.more_mailboxes', { count: troubled.length - LISTED }))] : []),
    ],
    week: say(message('report.week', { timezone })),
  };
}

interface Links {
  appUrl: string;
  unsubscribeUrl: string;
}

function plainReport(words: Words, say: Say, { appUrl, unsubscribeUrl }: Links): string {
  const chart = (rows: Words['sent']) => {
    const most = Math.max(1, ...rows.map(([, count]) => count));
    return rows
      .map(([label, count]) => `${label.padEnd(20)} ${'#'.repeat(barLength(count, most, BAR.characters))} ${count}`)
      .join('\n');
  };
  return [
    words.heading,
    words.figures
      .map(({ label, now, change }) => `${label.padEnd(20)}${String(now).padStart(8)}   ${change}`)
      .join('\n'),
    `${say(message('report.sent'))}\n${chart(words.sent)}`,
    words.replies.length === 0
      ? say(message('report.no_replies'))
      : `${say(message('report.by_intent'))}\n${chart(words.replies)}`,
    words.best,
    words.mailboxes.length === 0
      ? say(message('report.mailboxes_well'))
      : [say(message('report.mailboxes')), ...words.mailboxes].join('\n'),
    appUrl,
    `${say(message('report.why'))} ${words.week}\n${say(message('report.stop'))}: ${unsubscribeUrl}`,
    '',
  ].join('\n\n');
}

function htmlReport(words: Words, say: Say, { appUrl, unsubscribeUrl }: Links): string {
  const escaped = (said: Message) => escapeHtml(say(said));
  return `<!doctype html><html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body style="font-family: sans-serif; line-height: 1.5; max-width: 40em; margin: 1em auto; padding: 0 1em">
<h1 style="font-size: 1.2em">${escapeHtml(words.heading)}</h1>
<table cellpadding="4" style="border-collapse: collapse">${words.figures
    .map(
      ({ label, now, change }) =>
        `<tr><th align="left">${escapeHtml(label)}</th><td align="right"><b>${now}</b></td><td>${escapeHtml(change)}</td></tr>`,
    )
    .join('')}</table>
<h2 style="font-size: 1em">${escaped(message('report.sent'))}</h2>
${bars(words.sent)}
<h2 style="font-size: 1em">${escaped(message('report.by_intent'))}</h2>
${words.replies.length === 0 ? `<p>${escaped(message('report.no_replies'))}</p>` : bars(words.replies)}
<p>${escapeHtml(words.best)}</p>
${
  words.mailboxes.length === 0
    ? `<p>${escaped(message('report.mailboxes_well'))}</p>`
    : `<h2 style="font-size: 1em">${escaped(message('report.mailboxes'))}</h2><ul>${words.mailboxes
        .map((line) => `<li>${escapeHtml(line)}</li>`)
        .join('')}</ul>`
}
<p><a href="${escapeHtml(appUrl)}">${escaped(message('report.open'))}</a></p>
<p style="font-size: 0.85em; color: #555">${escaped(message('report.why'))} ${escapeHtml(words.week)}
<a href="${escapeHtml(unsubscribeUrl)}">${escaped(message('report.stop'))}</a></p>
</body></html>
`;
}

/** Renders a bar chart of table cells. */
function bars(rows: Words['sent']): string {
  const most = Math.max(1, ...rows.map(([, count]) => count));
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

/** Returns the length of a bar. A value above 0 is always visible. */
function barLength(count: number, most: number, full: number): number {
  return count === 0 ? 0 : Math.max(1, Math.round((count / most) * full));
}

function changeOf(now: number, before: number, say: Say): string {
  if (now === before) return say(message('report.unchanged'));
  const sign = now > before ? '+' : '-';
  const share = before === 0 ? '' : ` (${sign}${Math.round((Math.abs(now - before) / before) * 100)} %)`;
  return say(message('report.changed', { change: `${sign}${Math.abs(now - before)}${share}`, before }));
}

/** Shortens text written by people and agents to one line. */
function oneLine(text: string): string {
  const line = headerText(text);
  return line.length <= LONGEST_NAME ? line : `${line.slice(0, LONGEST_NAME - 1).replace(/\p{Surrogate}$/u, '')}…`;
}
