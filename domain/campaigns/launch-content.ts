import type { ApprovalContent, ApprovalSample, ApprovalStep } from '../../db/json-columns.ts';
import type { CampaignRow } from '../../db/models/campaign.ts';
import { CampaignSteps, type CampaignStepRow } from '../../db/models/campaign-step.ts';
import { CampaignVariants, type CampaignVariantRow } from '../../db/models/campaign-variant.ts';
import type { Columns } from '../../db/rows.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import type { Config } from '../../lib/config/index.ts';
import { hashRecipients, MAX_SAMPLES } from '../approvals/payload.ts';
import { IS_SENDER, POOL_TABLES, poolBindings } from '../sending/campaign/sender-pool.ts';
import { toGraphStep } from '../sending/campaign/graph.ts';
import { buildMessage } from '../mail/messages/build.ts';
import type { MessageContact } from '../mail/messages/values.ts';
import { effectiveSettings, type OutreachSettings } from '../sending/campaign/outreach-settings.ts';
import { attachedToStep, attachmentsOf, type CampaignAttachmentRow } from './attachments.ts';
import { SENDER_COLUMNS, shownSender, shownSettings, type SenderColumns } from '../sending/approved.ts';
import { message } from '../../messages/index.ts';

/** Maximum number of recipients whose addresses are listed. */
const SAMPLE_SIZE = 20;

/**
 * Builds the content that a person approves for the launch of a campaign. The content contains the recipients (as a
 * number and a hash), the senders, the schedule, the whole template, and three sample emails. The content is built and
 * compared again just before the launch, so equal campaigns must give equal content.
 * @param options.onlyWaiting include only the leads that wait for an approval
 */
export async function launchContent(
  org: OrgScope,
  campaign: CampaignRow,
  config: Pick<Config, 'TRACKING_DOMAIN'>,
  { onlyWaiting = false }: { onlyWaiting?: boolean } = {},
): Promise<ApprovalContent> {
  const leads = onlyWaiting ? WAITING_LEADS : OPEN_LEADS;
  const addresses = await recipientsOf(org, campaign, leads);
  const parts = await partsOf(org, campaign);
  const { senders, settings, steps, variants, files } = parts;
  return {
    title: onlyWaiting
      ? message('action.leads', { name: campaign.name, count: addresses.length })
      : message('action.launch', { name: campaign.name }),
    recipients: {
      count: addresses.length,
      source: { kind: 'campaign', id: campaign.id, name: campaign.name },
      fingerprint: hashRecipients(addresses),
      ...(addresses.length <= SAMPLE_SIZE ? { addresses } : {}),
    },
    senders: senders.map(shownSender),
    schedule: scheduleOf(campaign),
    steps: steps.map((step) =>
      templateOf(step, steps, variantsOf(step, steps, variants), attachedToStep(files, step.id)),
    ),
    samples: await samplesOf(org, { ...parts, campaign, leads, config }, MAX_SAMPLES),
    details: detailsOf(campaign, settings),
  };
}

/**
 * Builds the first emails of a campaign for the leads that would be launched first.
 * @param options.count maximum number of emails
 * @param options.isShown returns false for mailboxes that the caller may not see
 */
export async function firstEmails(
  org: OrgScope,
  campaign: CampaignRow,
  config: Pick<Config, 'TRACKING_DOMAIN'>,
  { count, isShown }: { count: number; isShown: (mailboxId: string) => boolean },
): Promise<{ senders: ApprovalContent['senders']; samples: ApprovalSample[] }> {
  const parts = await partsOf(org, campaign);
  const senders = parts.senders.filter(({ id }) => isShown(id));
  const sampled = { ...parts, senders, campaign, leads: OPEN_LEADS, config, order: 'e.id' } as const;
  return { senders: senders.map(shownSender), samples: await samplesOf(org, sampled, count) };
}

/** Reads all data of a campaign, except its leads, that affects its emails. */
async function partsOf(org: OrgScope, campaign: CampaignRow) {
  return {
    senders: await sendersOf(org, campaign),
    settings: await effectiveSettings(org, campaign.id),
    steps: await org.query(CampaignSteps).where({ campaign_id: campaign.id }).orderBy('position'),
    variants: await org.query(CampaignVariants).where({ campaign_id: campaign.id, is_active: true }).orderBy('id'),
    files: await attachmentsOf(org, campaign.id),
  };
}

/** SQL conditions on `e`: unfinished leads, and those that wait for an approval. */
const OPEN_LEADS = `e.state in ('pending', 'active')`;
const WAITING_LEADS = `${OPEN_LEADS} and e.hold_source = 'approval'`;

/** Returns the addresses of leads in a fixed order. */
async function recipientsOf(org: OrgScope, campaign: CampaignRow, leads: string): Promise<string[]> {
  const rows = await org.sql<Columns<'contacts', 'email'>>(
    `select c.email from enrollments e join contacts c on c.id = e.contact_id
     where e.organization_id = :org and e.campaign_id = :id and ${leads} order by c.email`,
    { id: campaign.id },
  );
  return rows.map(({ email }) => email);
}

/** Returns the senders of the campaign. Includes held ones, because a hold may end without a person's decision. */
function sendersOf(org: OrgScope, campaign: CampaignRow): Promise<SenderColumns[]> {
  return org.sql<SenderColumns>(
    `select ${SENDER_COLUMNS} from ${POOL_TABLES}
     where m.organization_id = :org and m.status = 'active' and ${IS_SENDER} order by m.id`,
    poolBindings(campaign),
  );
}

function scheduleOf(campaign: CampaignRow) {
  return {
    timezone: campaign.timezone,
    days: campaign.days,
    start_time: campaign.start_time,
    end_time: campaign.end_time,
    schedule_windows: campaign.schedule_windows,
    start_date: campaign.start_date?.toISOString() ?? null,
    end_date: campaign.end_date?.toISOString() ?? null,
    daily_limit: campaign.daily_limit,
    max_new_leads_per_day: campaign.max_new_leads_per_day,
  };
}

/** Returns the settings that affect the recipients or their emails. */
function detailsOf(campaign: CampaignRow, settings: OutreachSettings) {
  return {
    stop_on_reply: campaign.stop_on_reply,
    stop_on_company_reply: campaign.stop_on_company_reply,
    risky_emails: campaign.risky_emails,
    unsubscribe_mode: campaign.unsubscribe_mode,
    ...shownSettings(campaign, settings),
  };
}

/** Returns the variants of an email. Variants without a step belong to the first email. */
function variantsOf(
  step: CampaignStepRow,
  steps: readonly CampaignStepRow[],
  variants: readonly CampaignVariantRow[],
): CampaignVariantRow[] {
  const first = steps.find(({ kind }) => kind === 'email');
  return variants.filter(({ step_id: of }) => of === step.id || (of === null && step.id === first?.id));
}

/** Converts a step to the template that a person approves. Links contain the index of their target step. */
function templateOf(
  row: CampaignStepRow,
  steps: readonly CampaignStepRow[],
  variants: readonly CampaignVariantRow[],
  files: readonly CampaignAttachmentRow[],
): ApprovalStep {
  const { kind, action, conditions } = toGraphStep(row);
  const place = (id: string | null) => (id === null ? null : steps.findIndex((step) => step.id === id));
  const links = conditions.branches.map(({ to, ...branch }) => ({ ...branch, to: place(to) }));
  const settings = { ...action, links };
  const common = { name: row.name, wait_after: row.wait_after, settings };
  if (kind === 'email') {
    const copies = variants.length > 0 ? variants : [row];
    return {
      ...common,
      type: 'email',
      thread_reply: row.thread_reply,
      ...(files.length > 0
        ? {
            attachments: files.map(({ filename, content_type, size_bytes, sha256 }) => ({
              filename,
              content_type,
              size_bytes,
              sha256,
            })),
          }
        : {}),
      variants: copies.map((copy) => ({
        id: copy.id,
        subject: copy.subject || row.subject,
        body_plain: copy.body_plain,
        body_html: copy.body_html,
        ...('weight' in copy ? { weight: copy.weight } : {}),
      })),
    };
  }
  const type = action?.type;
  return { ...common, type: type === 'app_action' || type === 'wait_for_event' ? type : 'wait' };
}

interface Sampled {
  campaign: CampaignRow;
  leads: string;
  config: Pick<Config, 'TRACKING_DOMAIN'>;
  settings: OutreachSettings;
  senders: readonly SenderColumns[];
  steps: readonly CampaignStepRow[];
  variants: readonly CampaignVariantRow[];
  files: readonly CampaignAttachmentRow[];
  /** Order of the recipients, which must not change between an approval and the launch. */
  order?: 'c.email' | 'e.id';
}

/** Builds the first email of some recipients, with signature and opt-out. Each email uses the next variant. */
async function samplesOf(
  org: OrgScope,
  { campaign, leads, config, settings: { unsubscribe }, senders, steps, variants, files, order = 'c.email' }: Sampled,
  count: number,
): Promise<ApprovalSample[]> {
  const first = steps.find(({ kind }) => kind === 'email');
  if (!first || senders.length === 0) return [];
  const contacts = await org.sql<MessageContact & { id: string }>(
    `select c.id, c.email, c.first_name, c.last_name, c.company, c.phone, c.custom_fields
     from enrollments e join contacts c on c.id = e.contact_id
     where e.organization_id = :org and e.campaign_id = :id and ${leads} order by ${order} limit :count`,
    { id: campaign.id, count },
  );
  const own = variantsOf(first, steps, variants);
  const attachments = attachedToStep(files, first.id).map(({ filename, size_bytes: size }) => ({ filename, size }));
  return contacts.map((contact, index) => {
    const sender = senders[index % senders.length]!;
    const copy = own.length > 0 ? own[index % own.length]! : first;
    const url = `${config.TRACKING_DOMAIN}/sample`;
    const { options } = buildMessage({
      sendId: contact.id,
      sender: {
        email: sender.email,
        name: sender.name,
        replyTo: sender.reply_to,
        sendAs: sender.send_as_email,
        signatureHtml: sender.signature_html,
        signaturePlain: sender.signature_plain,
      },
      contact,
      app: {},
      step: {
        subject: copy.subject || first.subject,
        body_plain: copy.body_plain,
        body_html: copy.body_html,
        threadReply: first.thread_reply,
      },
      // Switches tracking off, because it would record the approver's opens and clicks and adds nothing visible.
      campaign: {
        name: campaign.name,
        textOnly: campaign.text_only,
        openTracking: false,
        linkTracking: false,
        unsubscribeHeader: campaign.unsubscribe_header,
      },
      unsubscribe,
      conversation: { subject: '', messageIds: [] },
      urls: { trackingBase: config.TRACKING_DOMAIN, pixelUrl: url, unsubscribeUrl: url, oneClickUrl: url },
      ticketId: String,
    });
    return {
      to: options.to.address,
      from: options.from.name ? `${options.from.name} <${options.from.address}>` : options.from.address,
      ...(campaign.cc.length > 0 ? { cc: campaign.cc } : {}),
      subject: options.subject,
      text: options.text,
      html: options.html ?? '',
      ...(attachments.length > 0 ? { attachments } : {}),
    };
  });
}
