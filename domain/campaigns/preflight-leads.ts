import type { CampaignRow } from '../../db/models/campaign.ts';
import type { Bindings } from '../../db/statement.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import { FREE_MAIL_DOMAINS } from '../../lib/free-mail.ts';
import { effectiveSettings, type OutreachSettings } from '../sending/campaign/outreach-settings.ts';
import { suppressedNow } from '../directory/suppression-check.ts';
import { inspectSource } from '../mail/messages/render-source.ts';
import type { EmailCopy } from './preflight-content.ts';
import { message, type Message } from '../../messages/index.ts';
import { infoFinding, warningFinding, type WeighedFinding } from './preflight-findings.ts';

/**
 * Local parts of role addresses (from RFC 2142, and other common ones). Several people read the mail of such an
 * address, and they report it as spam more often.
 */
const ROLE_ADDRESSES = [
  'abuse',
  'accounting',
  'accounts',
  'admin',
  'administrator',
  'billing',
  'careers',
  'compliance',
  'contact',
  'customerservice',
  'enquiries',
  'finance',
  'ftp',
  'hello',
  'help',
  'helpdesk',
  'hostmaster',
  'hr',
  'info',
  'inquiries',
  'invoice',
  'it',
  'jobs',
  'legal',
  'mail',
  'marketing',
  'media',
  'news',
  'newsletter',
  'no-reply',
  'noc',
  'noreply',
  'office',
  'orders',
  'postmaster',
  'press',
  'privacy',
  'reception',
  'recruiting',
  'root',
  'sales',
  'security',
  'service',
  'spam',
  'staff',
  'support',
  'team',
  'unsubscribe',
  'usenet',
  'uucp',
  'webmaster',
  'www',
];

/** Shares of a list (0 to 1) above which a finding is reported. */
const UNVERIFIED_SHARE = 0.3;
const ROLE_SHARE = 0.1;
const FREE_MAIL_SHARE = 0.5;

/** SQL expressions for the merge fields of contact columns, by template name. */
const BUILT_IN: Record<string, string> = {
  FirstName: 'c.first_name',
  LastName: 'c.last_name',
  Company: 'c.company',
  Phone: 'c.phone',
};

/** A merge field whose value is missing for some leads, which leaves a gap in their emails. */
interface WantedField {
  name: string;
  stepId: string;
  /** Number of leads without a value for the field. */
  missing: number;
}

/** Counts of a campaign's unfinished leads, by properties that a check needs. */
export interface LeadFacts {
  /** Number of unfinished leads. */
  open: number;
  /** Number of unfinished leads that were not launched yet (state `pending`). */
  waiting: number;
  unverified: number;
  role: number;
  freeMail: number;
  /** Number of unfinished leads to whom an email has bounced in any campaign. */
  bounced: number;
  /** Number of unfinished leads who get no email, because they opted out or are suppressed. */
  suppressed: number;
  /** Number of leads who are also unfinished leads of another active campaign. */
  elsewhere: number;
  fields: WantedField[];
}

/** SQL condition: lead `e` is also an unfinished lead of another active campaign. */
const IS_ELSEWHERE = `exists (select 1 from enrollments o join campaigns oc on oc.id = o.campaign_id
  where o.contact_id = e.contact_id and o.campaign_id <> e.campaign_id and o.state in ('pending', 'active') and oc.status = 'active')`;

/**
 * Counts a campaign's unfinished leads by the properties that checks need, and those without a value for the copy's
 * merge fields, in one statement.
 * @param now time for the expiry of suppressions, UTC
 */
export async function readLeads(
  org: OrgScope,
  campaign: Pick<CampaignRow, 'id'>,
  copies: readonly EmailCopy[],
  now: Date,
): Promise<LeadFacts> {
  const wanted = wantedFields(copies);
  const bindings: Bindings = { id: campaign.id, now, role: ROLE_ADDRESSES, free: [...FREE_MAIL_DOMAINS] };
  const columns = wanted.map(({ name }, index) => {
    const builtIn = BUILT_IN[name];
    if (!builtIn) bindings[`field${index}`] = name;
    const value = builtIn ?? `c.custom_fields ->> :field${index}::text`;
    return `, count(*) filter (where coalesce(trim(${value}), '') = '')::int as missing${index}`;
  });
  const [row] = await org.sql<Record<string, number>>(
    `select count(*)::int as open,
       count(*) filter (where e.state = 'pending')::int as waiting,
       count(*) filter (where c.verification_status = 'unknown')::int as unverified,
       count(*) filter (where split_part(c.email, '@', 1) = any(:role::text[]))::int as role,
       count(*) filter (where split_part(c.email, '@', 2) = any(:free::text[]))::int as free_mail,
       count(*) filter (where exists (select 1 from sends s where s.contact_id = c.id and s.bounced_at is not null))::int as bounced,
       count(*) filter (where not c.subscribed or ${suppressedNow('e.organization_id', 'c.email')})::int as suppressed,
       count(*) filter (where ${IS_ELSEWHERE})::int as elsewhere
       ${columns.join('')}
     from enrollments e join contacts c on c.id = e.contact_id
     where e.organization_id = :org and e.campaign_id = :id and e.state in ('pending', 'active')`,
    bindings,
  );
  return {
    open: row!.open!,
    waiting: row!.waiting!,
    unverified: row!.unverified!,
    role: row!.role!,
    freeMail: row!.free_mail!,
    bounced: row!.bounced!,
    suppressed: row!.suppressed!,
    elsewhere: row!.elsewhere!,
    fields: wanted.map((field, index) => ({ ...field, missing: row![`missing${index}`]! })),
  };
}

/** Maximum number of merge fields that are counted, because each one adds a column to the statement. */
const MAX_FIELDS = 60;

/** Returns the contact fields that the copy prints without a default, each with the first step that uses it. */
function wantedFields(copies: readonly EmailCopy[]): { name: string; stepId: string }[] {
  const found = new Map<string, string>();
  for (const { stepId, subject, bodyPlain, bodyHtml } of copies) {
    const sources = { subject, body_plain: bodyPlain, body_html: bodyHtml };
    for (const field of ['subject', 'body_plain', 'body_html'] as const) {
      for (const { path, hasDefault } of inspectSource(field, sources[field]).references) {
        const name = path[0]!;
        if (hasDefault || name === 'App' || name === 'Email' || found.has(name)) continue;
        found.set(name, stepId);
      }
    }
  }
  return [...found].slice(0, MAX_FIELDS).map(([name, stepId]) => ({ name, stepId }));
}

/**
 * Warns about merge fields without a value for some leads. Custom fields that no lead has are reported by
 * `stepFindings`.
 */
export function variableFindings({ open, fields }: LeadFacts): WeighedFinding[] {
  return fields
    .filter(({ name, missing }) => missing > 0 && (missing < open || name in BUILT_IN))
    .map(({ name, missing, stepId }) => {
      const said = message('finding.variable_empty', { tag: `{{.${name}}}`, missing, open });
      // Example for the finding's `fix`.
      said.values.example = `{{.${name} | default "there"}}`;
      return warningFinding('variables', missing * 10 > open ? 6 : 3, said, stepId);
    });
}

/** Returns a warning if leads are also in other active campaigns, unless the settings disable this check. */
export function overlapFindings(
  { open, elsewhere }: Pick<LeadFacts, 'open' | 'elsewhere'>,
  { campaign_overlap: { mode } }: Pick<OutreachSettings, 'campaign_overlap'>,
): WeighedFinding[] {
  if (mode === 'off' || elsewhere === 0) return [];
  const values = { count: elsewhere, open, share: Math.round((elsewhere / open) * 100) };
  return mode === 'hold'
    ? [infoFinding('list', message('finding.list_held_elsewhere', values))]
    : [warningFinding('list', 4, message('finding.list_in_other_campaigns', values))];
}

/** Variant of {@link overlapFindings} for a campaign whose leads have not been read yet. */
export async function readOverlap(org: OrgScope, campaign: Pick<CampaignRow, 'id'>): Promise<WeighedFinding[]> {
  const settings = await effectiveSettings(org, campaign.id);
  if (settings.campaign_overlap.mode === 'off') return [];
  const [row] = await org.sql<Pick<LeadFacts, 'open' | 'elsewhere'>>(
    `select count(*)::int as open, count(*) filter (where ${IS_ELSEWHERE})::int as elsewhere
     from enrollments e where e.organization_id = :org and e.campaign_id = :id and e.state in ('pending', 'active')`,
    { id: campaign.id },
  );
  return overlapFindings(row!, settings);
}

/** Warns about risks in the list of leads, such as unverified and role addresses. */
export function listFindings({ open, unverified, role, freeMail, bounced, suppressed }: LeadFacts): WeighedFinding[] {
  if (open === 0) return [];
  const found: WeighedFinding[] = [];
  const of = (count: number) => ({ count, open, share: Math.round((count / open) * 100) });
  const add = (points: number, said: Message) => found.push(warningFinding('list', points, said));
  if (bounced > 0) add(bounced * 50 > open ? 12 : 6, message('finding.list_bounced_before', of(bounced)));
  if (unverified > open * UNVERIFIED_SHARE)
    add(unverified > open * 0.7 ? 8 : 4, message('finding.list_unverified', of(unverified)));
  if (role > open * ROLE_SHARE) add(6, message('finding.list_role_addresses', of(role)));
  if (suppressed > 0) found.push(infoFinding('list', message('finding.list_suppressed', of(suppressed))));
  if (freeMail > open * FREE_MAIL_SHARE)
    found.push(infoFinding('list', message('finding.list_free_mail', of(freeMail))));
  return found;
}
