import { message } from '../../../messages/index.ts';
import { findActionEnd } from './actions.ts';
import { MAX_SOURCE_LENGTH, MAX_TEMPLATE_ERRORS } from './limits.ts';
import { skipOpaqueMarkup } from './spintax.ts';
import { positionAt, type TemplateError } from './template-parser.ts';

/** Returns a pattern for a bracket or sign that is written literally, percent-encoded, or as an HTML entity. */
const sign = (...forms: string[]) => `(?:${forms.join('|')})`;
const OPEN = sign('\\{', '%7B', '&#123;', '&lbrace;', '&lcub;');
const CLOSE = sign('\\}', '%7D', '&#125;', '&rbrace;', '&rcub;');
const SQUARE = sign('\\[', '%5B', '&#91;', '&lsqb;', '&lbrack;');
const SQUARE_END = sign('\\]', '%5D', '&#93;', '&rsqb;', '&rbrack;');
const BAR = sign('\\|', '%7C', '&#124;');
const PERCENT = sign('%25', '%');
const ANGLE = sign('<', '&lt;');
const ANGLE_END = sign('>', '&gt;');

const WORDS = String.raw`[\p{L}_.@$ ](?:[\p{L}\p{N}_.\- \u00a0]|&nbsp;){0,59}`;
/** A fallback after a name, as in `{first_name|there}` and `[FIRSTNAME,fallback=you]`. */
const FALLBACK = String.raw`(?<fallback>[|:,][^{}\[\]\n]{0,80})?`;
const named = (open: string, close: string, name = WORDS, fallback = '') => `${open}(${name})${fallback}${close}`;

/** Notations that are always merge tags, regardless of their content. */
const CERTAIN = new RegExp(
  [
    String.raw`\*${BAR}[^|*\n]{1,80}${BAR}\*`,
    String.raw`\{%[^%\n]{1,200}%\}`,
    String.raw`(?:<|&lt;)%[^%\n]{1,200}%(?:>|&gt;)`,
    String.raw`\[%[^%\n]{1,200}%\]`,
    String.raw`%%=[^%\n]{1,200}=%%`,
    String.raw`%%[\p{L}_][\p{L}\p{N}_.:\-]{0,59}%%`,
    String.raw`${SQUARE}{2}[^\[\]\n]{1,80}${SQUARE_END}{2}`,
    String.raw`[$#]\{[\p{L}_][\p{L}\p{N}_. ]{0,59}\}`,
    String.raw`${OPEN}[$!][\p{L}_][\p{L}\p{N}_.$]{0,59}(?:\|[^{}\n]{0,80})?${CLOSE}`,
    String.raw`｛｛[^｛｝\n]{1,80}｝｝`,
  ].join('|'),
  'giu',
);

/** Notations that also have other uses. They are merge tags only around a field name. */
const LIKELY = [
  { pattern: named(OPEN, CLOSE, WORDS, FALLBACK), takes: isFieldName },
  { pattern: named(PERCENT, PERCENT, String.raw`[\p{L}_][\p{L}\p{N}_.\-]{0,59}`), takes: isFieldName },
  { pattern: named(ANGLE + ANGLE, ANGLE_END + ANGLE_END), takes: isFieldName },
  { pattern: named('«', '»'), takes: isFieldName },
  { pattern: named(SQUARE, SQUARE_END, WORDS, FALLBACK), takes: isKnownField },
  { pattern: named('##?', '##?', String.raw`[\p{L}_]{2,40}`), takes: isKnownField },
  {
    pattern: named(String.raw`(?<![\p{L}\p{N}-])-`, String.raw`-(?![\p{L}\p{N}-])`, String.raw`[\p{L}_]{2,40}`),
    takes: isKnownField,
  },
  { pattern: named('@@', '@@', String.raw`[\p{L}_]{2,40}`), takes: isKnownField },
  { pattern: named('__', '__', String.raw`[\p{L}_]{2,40}?`), takes: isKnownField },
  { pattern: named(String.raw`\$`, String.raw`\$`, String.raw`[\p{L}_]{2,40}`), takes: isKnownField },
  { pattern: named('~', '~', String.raw`[\p{L}_.]{2,40}`), takes: isFieldName },
].map(({ pattern, takes }) => ({ pattern: new RegExp(pattern, 'giu'), takes }));

/** Field names of contacts and senders in other email tools, without blanks and underscores. */
const FIELDS = new Set(
  `firstname lastname fullname middlename name fname lname username email emailaddress mail company companyname
  organization organisation phone phonenumber mobile title jobtitle position role salutation greeting city state
  country region zip postalcode address street industry website domain linkedin linkedinurl icebreaker firstline
  personalization yourname yourcompany yourtitle recipientname contactname customername clientname sendername
  senderfirstname sendersignature sendercompany signature unsubscribe unsubscribelink unsubscribeurl unsubscribed
  unsub optout viewinbrowser webversion
  vorname nachname anrede firma unternehmen prénom prenom nom entreprise société nombre apellido apellidos empresa
  nome cognome sobrenome azienda voornaam achternaam bedrijf imię imie nazwisko fornavn etternavn efternavn förnamn
  efternamn företag virksomhed имя фамилия компания 姓名 名前 会社名 公司`.split(/\s+/),
);
const OWNER =
  /^(?:account|company|contact|customer|lead|member|merge|person|prospect|recipient|sender|subscriber|user)\./i;

/** Example of Heron's syntax in messages to the author: the field for the first name. */
const EXAMPLE = '{{.FirstName}}';

/** Finds merge tags of other tools in a source. They would appear literally in the email. */
export function foreignTags(source: string, { html }: { html: boolean }): TemplateError[] {
  if (source.length > MAX_SOURCE_LENGTH) return [];
  const copy = withoutOwnSyntax(source, html);
  const found = [...copy.matchAll(CERTAIN)].map(({ 0: text, index }) => ({ text, index }));
  for (const { pattern, takes } of LIKELY)
    for (const { 0: text, 1: name, index, groups } of copy.matchAll(pattern))
      if (takes(name!, groups?.fallback !== undefined)) found.push({ text, index });
  found.sort((a, b) => a.index - b.index || b.text.length - a.text.length);
  let end = 0;
  const apart = found.filter(({ text, index }) => {
    if (index < end) return false;
    end = index + text.length;
    return true;
  });
  return apart.slice(0, MAX_TEMPLATE_ERRORS).map(({ text, index }) => ({
    message: message('template.foreign_tag', { tag: text, example: EXAMPLE }),
    ...positionAt(source, index),
  }));
}

/**
 * Replaces the actions of a source by blanks, and in HTML also styles, scripts and comments. All positions stay the
 * same.
 */
function withoutOwnSyntax(source: string, html: boolean): string {
  let copy = '';
  let from = 0;
  for (const { index } of source.matchAll(html ? /\{(?=\{)|</g : /\{(?=\{)/g)) {
    if (index < from) continue;
    const isAction = source[index] === '{';
    const end = isAction ? findActionEnd(source, index) : skipOpaqueMarkup(source, index);
    if (end <= index + 1) continue;
    copy += source.slice(from, index) + source.slice(index, end).replace(/[^\n]/g, ' ');
    from = end;
  }
  return copy + source.slice(from);
}

/**
 * Returns true for a known field name, or for a name in a programming style (`order_id`).
 * @param hasFallback true for braces with a bar, which may also be spintax. `{Company|Firm}` are words,
 * `{first_name|there}` is a tag
 */
function isFieldName(name: string, hasFallback = false): boolean {
  const bare = name.trim().replace(/^[.@$]/, '');
  const isProgrammed =
    /^[a-z]+[a-z0-9]*(?:_[a-z0-9]+)+$/i.test(bare) || /^(?:[a-z]+|[A-Z][a-z0-9]+)(?:[A-Z][a-z0-9]+)+$/.test(bare);
  if (hasFallback)
    return (
      (isProgrammed && isKnownField(bare)) ||
      /^[a-z]+_[a-z_]+$/.test(bare) ||
      /^[FL]NAME$|^(?:FIRST|LAST)NAME$/.test(bare)
    );
  return isProgrammed || isKnownField(bare);
}

function isKnownField(name: string): boolean {
  const bare = name.trim().replace(/^[.@$]/, '');
  return (
    OWNER.test(bare) ||
    FIELDS.has(
      bare
        .normalize('NFC')
        .toLowerCase()
        .replace(/&nbsp;|[\s_.-]+/g, ''),
    )
  );
}
