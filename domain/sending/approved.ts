import { isDeepStrictEqual } from 'node:util';
import type {
  ApprovalBinding,
  ApprovalContent,
  BoundCopy,
  BoundSender,
  StoredAttachment,
} from '../../db/json-columns.ts';
import type { Columns } from '../../db/rows.ts';
import { sha256 } from '../../lib/crypto.ts';
import { inspectSource } from '../mail/messages/render-source.ts';
import { headerText } from '../mail/messages/text.ts';
import { resolveUtm } from '../mail/messages/utm.ts';
import type { ClaimRow, Json } from './claimed.ts';
import type { OutreachSettings } from './campaign/outreach-settings.ts';

/** Number of hexadecimal digits in a fingerprint. */
const HASH_LENGTH = 32;
/** Merge field of the recipient's address. An approval stores a fingerprint of its value for each lead. */
const ADDRESS = 'Email';
/** Key under which an approval stores the text and the recipients of a single email. */
const SINGLE = 'email';

/** Columns of a mailbox whose values recipients can see. */
export type SenderColumns = Columns<
  'mailboxes',
  | 'id'
  | 'email'
  | 'name'
  | 'reply_to'
  | 'send_as_email'
  | 'signature_html'
  | 'signature_plain'
  | 'smtp'
  | 'tracking_domain'
  | 'tracking_domain_verified'
>;

/** {@link SenderColumns} as SQL, for a query that selects from `mailboxes m`. */
export const SENDER_COLUMNS = `m.id, m.email, m.name, m.reply_to, m.send_as_email, m.signature_html, m.signature_plain, m.smtp,
  m.tracking_domain, m.tracking_domain_verified`;

/** Returns the data of a sender that approvers and recipients see. */
export function shownSender(mailbox: SenderColumns): ApprovalContent['senders'][number] {
  return {
    mailbox_id: mailbox.id,
    email: mailbox.send_as_email || mailbox.email,
    name: headerText(mailbox.name),
    reply_to: mailbox.reply_to,
    smtp: `${mailbox.smtp.host}:${mailbox.smtp.port}`,
    signature_plain: mailbox.signature_plain,
    signature_html: mailbox.signature_html,
    tracking_domain: mailbox.tracking_domain_verified ? mailbox.tracking_domain : '',
  };
}

/** Returns the settings that affect all emails of a campaign, as an approver sees them. */
export function shownSettings(
  campaign: Columns<
    'campaigns',
    | 'name'
    | 'text_only'
    | 'open_tracking'
    | 'link_tracking'
    | 'unsubscribe_header'
    | 'cc'
    | 'bcc'
    | 'tracking_domain'
    | 'tracking_domain_verified'
    | 'utm_tracking'
    | 'utm_source'
    | 'utm_medium'
    | 'utm_campaign'
  >,
  { unsubscribe }: Pick<OutreachSettings, 'unsubscribe'>,
) {
  const { utm_source: source, utm_medium: medium, utm_campaign: name } = campaign;
  return {
    text_only: campaign.text_only,
    open_tracking: campaign.open_tracking,
    link_tracking: campaign.link_tracking,
    tracking_domain: campaign.tracking_domain_verified ? campaign.tracking_domain : '',
    utm: campaign.utm_tracking ? { ...resolveUtm({ source, medium, campaign: name }, campaign.name) } : null,
    unsubscribe_header: campaign.unsubscribe_header,
    unsubscribe: { ...unsubscribe },
    cc: campaign.cc,
    bcc: campaign.bcc,
  };
}

const SETTINGS = Object.keys({
  text_only: 0,
  open_tracking: 0,
  link_tracking: 0,
  tracking_domain: 0,
  utm: 0,
  unsubscribe_header: 0,
  unsubscribe: 0,
  cc: 0,
  bcc: 0,
} satisfies Record<keyof ReturnType<typeof shownSettings>, 0>);

/** Returns the fingerprints of approved content. {@link approvalChanges} compares each email with them. */
export function bindingOf(content: ApprovalContent): ApprovalBinding {
  const copies = content.steps.flatMap(({ type, thread_reply: reply = false, variants = [], attachments = [] }) =>
    type === 'email' ? variants.map((copy) => ({ ...copy, thread_reply: reply, files: attachments })) : [],
  );
  return {
    senders: Object.fromEntries(content.senders.map((sender) => [sender.mailbox_id, boundSender(sender)])),
    copies: Object.fromEntries(copies.map((copy) => [copy.id ?? SINGLE, boundCopy(copy)])),
    settings:
      content.recipients.source.kind === 'addresses'
        ? { [SINGLE]: hashSingle(content.recipients.addresses ?? [], filesOf(content)) }
        : Object.fromEntries(Object.entries(content.details ?? {}).filter(([name]) => SETTINGS.includes(name))),
    fields: [...new Set([ADDRESS, ...copies.flatMap(fieldsOf)])].sort(),
  };
}

type BoundFile = Pick<StoredAttachment, 'filename' | 'sha256'>;

function filesOf({ details }: ApprovalContent): readonly BoundFile[] {
  return (details?.attachments ?? []) as unknown as BoundFile[];
}

/** Returns the fingerprint of a single email's recipients and files. */
function hashSingle(addresses: readonly string[], files: readonly BoundFile[]): string {
  return hash([addresses, namesOf(files)]);
}

function namesOf(files: readonly BoundFile[]): string[][] {
  return files.map(({ filename, sha256: digest }) => [filename, digest]);
}

/** Fields of an email that differ from its approval. */
interface ApprovalChanges {
  /** True if only this lead's values differ. The campaign then continues without the lead. */
  ofLead: boolean;
  fields: string[];
}

/**
 * Compares an email with its approval before it is sent: sender, mail server, text, settings, and the values of its
 * lead.
 * @returns undefined if nothing differs or no approval was needed
 */
export function approvalChanges(
  row: ClaimRow,
  settings: Pick<OutreachSettings, 'unsubscribe'> | undefined,
): ApprovalChanges | undefined {
  const { campaign, direct, enrollment, mailbox } = row;
  const wanted = direct ? direct.approval_id : campaign?.approval_id;
  if (wanted && mailbox) {
    const fields = row.approval_id
      ? [
          ...senderChanges(row.approved_sender, mailbox as SenderColumns),
          ...copyChanges(row),
          ...settingChanges(row, settings),
        ]
      : ['approval'];
    if (fields.length > 0) return { ofLead: false, fields };
  }
  if (!enrollment || direct) return undefined;
  const approved = enrollment.approved as Record<string, string> | null | undefined;
  if (approved === undefined || (approved === null && !wanted)) return undefined;
  if (!approved?.[ADDRESS]) return { ofLead: true, fields: ['recipient'] };
  const changed = row.lead_changes ?? [];
  return changed.length > 0 ? { ofLead: true, fields: changed } : undefined;
}

function senderChanges(approved: BoundSender | null, mailbox: SenderColumns): string[] {
  if (!approved) return ['mailbox'];
  const now = boundSender(shownSender(mailbox)) as unknown as Record<string, string>;
  return Object.entries(approved).flatMap(([field, value]) =>
    now[field] === value || (field === 'tracking_domain' && fellBack(mailbox, value)) ? [] : [field],
  );
}

/**
 * Returns true if the mailbox or campaign still has the approved tracking domain but the domain is no longer verified.
 * Links then use the installation's own host, and the email may be sent.
 */
function fellBack(
  row: Pick<SenderColumns, 'tracking_domain' | 'tracking_domain_verified'>,
  approved: unknown,
): boolean {
  return row.tracking_domain === approved && !row.tracking_domain_verified;
}

function copyChanges({ approved_copy: approved, step, variant, direct, files }: ClaimRow): string[] {
  const copy = direct ?? variant ?? step!;
  if (!approved) return [variant ? 'variant' : 'step'];
  const now = boundCopy({
    subject: copy.subject || step?.subject || '',
    body_plain: copy.body_plain,
    body_html: copy.body_html ?? '',
    thread_reply: step?.thread_reply ?? false,
    files: direct ? [] : files,
  }) as unknown as Record<string, string>;
  return Object.entries(approved).flatMap(([field, value]) => (now[field] === value ? [] : [field]));
}

function settingChanges(
  { approved_settings: approved, campaign, direct }: ClaimRow,
  settings: Pick<OutreachSettings, 'unsubscribe'> | undefined,
): string[] {
  const now: Record<string, unknown> = direct ? singleOf(direct) : shownSettings(campaign as never, settings!);
  return Object.entries(approved ?? {}).flatMap(([field, value]) =>
    isDeepStrictEqual(now[field], value) || (field === 'tracking_domain' && fellBack(campaign as never, value))
      ? []
      : [field],
  );
}

function singleOf({ to_emails: to, cc_emails: cc, bcc_emails: bcc, attachments }: Json): Record<string, unknown> {
  return { [SINGLE]: hashSingle([...to, ...cc, ...bcc], attachments) };
}

function boundSender(sender: ApprovalContent['senders'][number]): BoundSender {
  const { email, name, reply_to = '', smtp = '', tracking_domain = '' } = sender;
  const signature = hash([sender.signature_plain ?? '', sender.signature_html ?? '']);
  return { from: email, name, reply_to, smtp, signature, tracking_domain };
}

function boundCopy(copy: {
  subject: string;
  body_plain: string;
  body_html: string;
  thread_reply: boolean;
  files: readonly BoundFile[];
}): BoundCopy {
  return {
    subject: hash(copy.subject),
    body_plain: hash(copy.body_plain),
    body_html: hash(copy.body_html),
    thread_reply: copy.thread_reply,
    attachments: hash(namesOf(copy.files)),
  };
}

/** Returns the contact's merge fields that a text uses. */
function fieldsOf(copy: { subject: string; body_plain: string; body_html: string }): string[] {
  return (['subject', 'body_plain', 'body_html'] as const).flatMap((field) =>
    inspectSource(field, copy[field]).references.flatMap(({ path: [name] }) => (name && name !== 'App' ? [name] : [])),
  );
}

function hash(value: unknown): string {
  return sha256(JSON.stringify(value)).slice(0, HASH_LENGTH);
}
