import type { ApprovalRow } from '../../../domain/approvals/view.ts';
import type { PageTexts } from '../../pages/texts.ts';
import { presentReport } from '../../http/findings.ts';
import { html, type Html } from '../../http/html.ts';
import { readableSchedule } from './schedule.ts';
import type { Message } from '../../../messages/index.ts';

type Content = ApprovalRow['payload'];
type Sample = Content['samples'][number];
type Step = Content['steps'][number];
type Words = PageTexts['approval'];

/** Maximum number of addresses that the page lists. GET /approvals returns all fields. */
const SHOWN_ADDRESSES = 20;

/**
 * Renders the content of an approval for people.
 * @param samplePath path of a sample email's HTML for its frame; `?n=` is appended
 */
export function contentView(text: PageTexts, { payload, preflight }: ApprovalRow, samplePath: string): Html {
  const { approval: words } = text;
  const mails = payload.recipients.count > 0 || payload.senders.length > 0 || payload.samples.length > 0;
  return html`${mails ? mailing(text, payload) : null}${payload.details ? html`<h2 class="part">${words.details}</h2>${facts(text, payload.details)}` : null}
${preflight ? checked(text, preflight) : null}
${payload.samples.length > 0 ? html`<h2 class="part">${words.asSeen}</h2>${payload.samples.map((one, index) => sample(words, one, `${samplePath}?n=${index}`))}` : null}
${payload.steps.length > 0 ? html`<h2 class="part">${words.template}</h2>${payload.steps.map((one, index) => step(text, one, index))}` : null}`;
}

/** Renders recipients, senders and times. Not used for orders of mailboxes, which send no email. */
function mailing(text: PageTexts, payload: Content): Html {
  const { approval: words } = text;
  return html`<dl class="places">
<dt>${words.recipients}</dt><dd>${recipients(words, payload.recipients)}</dd>
<dt>${words.from}</dt><dd>${payload.senders.length === 0 ? words.noMailbox : payload.senders.map((one) => sender(words, one))}</dd>
<dt>${words.when}</dt><dd>${payload.schedule === null ? words.atOnce : facts(text, readableSchedule(text, payload.schedule))}</dd>
</dl>
`;
}

/** Renders a sender's name and address as recipients see them, with the reply address and the outgoing server. */
function sender(words: Words, { name, email, reply_to: answers, smtp }: Content['senders'][number]): Html {
  const facts = [answers ? words.answersTo(answers) : '', smtp ? words.through(smtp) : ''].filter(Boolean).join(', ');
  return html`<div>${name} &lt;${email}&gt;${facts ? html` <span class="soft">${facts}</span>` : null}</div>`;
}

function recipients(words: Words, { count, source, addresses = [] }: Content['recipients']): Html {
  const more =
    addresses.length > SHOWN_ADDRESSES ? html`<li>${words.more(addresses.length - SHOWN_ADDRESSES)}</li>` : null;
  return html`${words.people(count)}${source.name ? words.of(source.name) : null}${
    addresses.length > 0
      ? html`<ul class="plain">${addresses.slice(0, SHOWN_ADDRESSES).map((address) => html`<li>${address}</li>`)}${more}</ul>`
      : null
  }`;
}

/** Renders an object with arbitrary keys, one line per key. */
function facts(text: PageTexts, values: Record<string, unknown>): Html {
  const shown = Object.entries(values).filter(([, value]) => !isBare(value));
  return html`<dl class="places">${shown.map(([name, value]) => html`<dt>${text.approval.fact(name)}</dt><dd>${written(text, value, name)}</dd>`)}</dl>`;
}

/** Returns true for a value without displayable content. */
function isBare(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}

/** Renders a list as one line per entry, and an object as its values in order. */
function written(text: PageTexts, value: unknown, name = ''): Html | string {
  const { approval: words } = text;
  if (isMessage(value)) return text.plainly(value);
  if (typeof value === 'boolean') return value ? words.yes : words.no;
  if (Array.isArray(value)) return html`${value.map((one) => html`<div>${written(text, one)}</div>`)}`;
  if (typeof value === 'object' && value !== null)
    return html`${Object.values(value).map((part, index) => html`${index > 0 ? ', ' : ''}${written(text, part)}`)}`;
  return words.value(String(value), name);
}

function isMessage(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && 'code' in value && 'values' in value;
}

/**
 * Renders the preflight report that was made when the action was requested: its score, and each finding with its fix.
 */
function checked({ approval: words, lang }: PageTexts, preflight: Record<string, unknown>): Html {
  const report = presentReport(preflight, lang);
  const { score, passed } = preflight;
  const points = Number(score);
  const verdict = passed === false ? words.faults(points) : words.passed(points);
  return html`<h2 class="part">${words.checks}</h2><div class="note ${passed === false ? 'bad' : 'good'}"><p>${verdict}</p></div>
${report.findings.length > 0 ? html`<ul class="plain">${report.findings.map(({ severity, message, fix }) => html`<li><span class="mark">${words.severity(severity)}</span> ${message} <span class="soft">${fix}</span></li>`)}</ul>` : null}`;
}

function sample(words: Words, { from, to, cc, subject, text, html: body, attachments }: Sample, source: string): Html {
  return html`<div class="note"><p><strong>${subject}</strong></p>
<p class="soft">${words.fromTo(from, to)}${cc && cc.length > 0 ? words.cc(cc.join(', ')) : null}</p>
${attachments && attachments.length > 0 ? html`<p class="soft">${words.attached(attachments.map(({ filename }) => filename).join(', '))}</p>` : null}
${body === '' ? html`<pre>${text}</pre>` : html`<iframe class="email" sandbox src="${source}" title="${words.emailTo(to)}" loading="lazy" referrerpolicy="no-referrer"></iframe>${text === '' ? null : html`<details><summary>${words.textVersion}</summary><pre>${text}</pre></details>`}`}</div>`;
}

function step(text: PageTexts, { name, type, wait_after: days, variants = [], settings }: Step, index: number): Html {
  const { approval: words } = text;
  const when = days ? words.later(days) : '';
  return html`<details><summary>${index + 1}. ${name || words.step(actionOf(settings) ?? type)}${when}</summary>
${variants.map(
  ({ subject, body_plain: plain, body_html: rich }) =>
    html`<p><strong>${subject || words.sameConversation}</strong></p>${plain ? html`<pre>${plain}</pre>` : null}${rich ? html`<pre><code>${rich}</code></pre>` : null}`,
)}${settings ? facts(text, readableSettings(words, settings)) : null}</details>`;
}

function actionOf(settings: Step['settings']): string | undefined {
  return typeof settings?.type === 'string' ? settings.type : undefined;
}

/**
 * Returns a step's settings as readable text. Links name their target steps by number, counted from one as on the page.
 */
function readableSettings(words: Words, settings: NonNullable<Step['settings']>): Record<string, unknown> {
  const action = actionOf(settings);
  const links = (Array.isArray(settings.links) ? settings.links : []) as {
    to: number | null;
    when?: { field: string; operator: string; value?: unknown }[];
  }[];
  return {
    ...settings,
    ...(action === undefined ? {} : { type: words.step(action) }),
    links: links.map(({ to, when = [] }) =>
      words.link(
        to === null ? '' : `${to + 1}`,
        when.map(({ field, operator, value = '' }) => `${field} ${operator} ${String(value)}`.trim()).join(', '),
      ),
    ),
  };
}
