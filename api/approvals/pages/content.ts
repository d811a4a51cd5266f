import type { ApprovalRow } from '../../../domain/approvals/view.ts';
import { html, type Html } from '../../oauth/pages/html.ts';

type Content = ApprovalRow['payload'];
type Sample = Content['samples'][number];
type Step = Content['steps'][number];

/** Addresses of one list that the page shows; all of them are in GET /approvals. */
const SHOWN_ADDRESSES = 20;

/**
 * What an approval is about, as people read it.
 * @param samplePath where the frames of samples find their emails; `?n=` is added
 */
export function contentView({ payload, preflight }: ApprovalRow, samplePath: string): Html {
  const mails = payload.recipients.count > 0 || payload.senders.length > 0 || payload.samples.length > 0;
  return html`${mails ? mailing(payload) : null}${payload.details ? html`<h2 class="part">Details</h2>${facts(payload.details)}` : null}
${preflight ? findings(preflight) : null}
${payload.samples.length > 0 ? html`<h2 class="part">As recipients would see it</h2>${payload.samples.map((one, index) => sample(one, `${samplePath}?n=${index}`))}` : null}
${payload.steps.length > 0 ? html`<h2 class="part">The whole template</h2>${payload.steps.map(step)}` : null}`;
}

/** Whom it mails, from where and when. An order of mailboxes mails nobody. */
function mailing(payload: Content): Html {
  return html`<dl class="places">
<dt>Recipients</dt><dd>${recipients(payload.recipients)}</dd>
<dt>From</dt><dd>${payload.senders.length === 0 ? 'no mailbox' : payload.senders.map(({ name, email }) => html`<div>${name} &lt;${email}&gt;</div>`)}</dd>
<dt>When</dt><dd>${payload.schedule === null ? 'At once' : facts(payload.schedule)}</dd>
</dl>
`;
}

function recipients({ count, source, addresses = [] }: Content['recipients']): Html {
  const people = count === 1 ? '1 person' : `${count} people`;
  const more =
    addresses.length > SHOWN_ADDRESSES ? html`<li>and ${addresses.length - SHOWN_ADDRESSES} more</li>` : null;
  return html`${people}${source.name ? html` of ${source.name}` : null}${
    addresses.length > 0
      ? html`<ul class="plain">${addresses.slice(0, SHOWN_ADDRESSES).map((address) => html`<li>${address}</li>`)}${more}</ul>`
      : null
  }`;
}

/** An object of which only its writer knows the keys: one line each. */
function facts(values: Record<string, unknown>): Html {
  const shown = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== '');
  return html`<dl class="places">${shown.map(([name, value]) => html`<dt>${name.replaceAll('_', ' ')}</dt><dd>${words(value)}</dd>`)}</dl>`;
}

/** A list has a line for each of its entries; an entry with parts is their values in their order. */
function words(value: unknown): Html | string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return html`${value.map((one) => html`<div>${words(one)}</div>`)}`;
  if (typeof value === 'object' && value !== null)
    return html`${Object.values(value).map((part, index) => html`${index > 0 ? ', ' : ''}${words(part)}`)}`;
  return String(value);
}

interface Finding {
  severity?: string;
  message?: string;
  fix?: string;
}

/** The report of the checks when it was asked for: its score, and each finding with its remedy. */
function findings(report: Record<string, unknown>): Html {
  const list = (Array.isArray(report.findings) ? report.findings : []) as Finding[];
  const score = typeof report.score === 'number' ? ` (score ${report.score} of 100)` : '';
  const verdict = report.passed === false ? 'The checks found faults' : 'The checks were passed';
  return html`<h2 class="part">Checks</h2><div class="note ${report.passed === false ? 'bad' : 'good'}"><p>${verdict}${score}.</p></div>
${list.length > 0 ? html`<ul class="plain">${list.map(({ severity, message, fix }) => html`<li>${severity ? html`<span class="mark">${severity}</span> ` : null}${message} ${fix ? html`<span class="soft">${fix}</span>` : null}</li>`)}</ul>` : null}`;
}

function sample({ from, to, cc, subject, text, html: body, attachments }: Sample, source: string): Html {
  return html`<div class="note"><p><strong>${subject}</strong></p>
<p class="soft">From ${from} to ${to}${cc && cc.length > 0 ? html`, cc ${cc.join(', ')}` : null}</p>
${attachments && attachments.length > 0 ? html`<p class="soft">Attached: ${attachments.map(({ filename }) => filename).join(', ')}</p>` : null}
${body === '' ? html`<pre>${text}</pre>` : html`<iframe class="letter" sandbox src="${source}" title="Email to ${to}" loading="lazy" referrerpolicy="no-referrer"></iframe>${text === '' ? null : html`<details><summary>Its text version</summary><pre>${text}</pre></details>`}`}</div>`;
}

function step({ name, type, wait_after: days, variants = [], settings }: Step, index: number): Html {
  const when = days ? `, ${days} ${days === 1 ? 'day' : 'days'} later` : '';
  return html`<details><summary>${index + 1}. ${name || type.replaceAll('_', ' ')}${when}</summary>
${variants.map(
  ({ subject, body_plain: plain, body_html: rich }) =>
    html`<p><strong>${subject || 'In the same conversation'}</strong></p>${plain ? html`<pre>${plain}</pre>` : null}${rich ? html`<pre><code>${rich}</code></pre>` : null}`,
)}${settings ? facts(settings) : null}</details>`;
}
