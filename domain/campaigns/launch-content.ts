import type { ApprovalContent, ApprovalSample, ApprovalStep } from '../../db/json-columns.ts';
import type { CampaignRow } from '../../db/models/campaign.ts';
import { CampaignSteps, type CampaignStepRow } from '../../db/models/campaign-step.ts';
import { CampaignVariants, type CampaignVariantRow } from '../../db/models/campaign-variant.ts';
import type { Columns } from '../../db/rows.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import type { Config } from '../../lib/config/index.ts';
import { hashRecipients, MAX_SAMPLES } from '../approvals/payload.ts';
import { IS_SENDER, POOL_TABLES, poolBindings } from '../sending/campaign/sender-pool.ts';
import { toGraphStep } from '../sending/campaign/step-findings.ts';
import { buildMessage } from '../mail/messages/build.ts';
import type { MessageContact } from '../mail/messages/values.ts';
import { effectiveSettings } from '../sending/campaign/outreach-settings.ts';
import { message } from '../../messages/index.ts';

/** Maximum recipients whose addresses are listed one by one. */
const FEW = 20;

type Sender = Columns<
  'mailboxes',
  'id' | 'email' | 'name' | 'reply_to' | 'send_as_email' | 'signature_html' | 'signature_plain'
>;

/**
 * Builds the content that a person approves for the launch of a campaign. It holds every recipient (as a number and a
 * hash), the senders, the schedule, the whole template, and three sample emails. The same campaign gives the same
 * content, so that it can be compared right before the launch.
 */
export async function launchContent(
  org: OrgScope,
  campaign: CampaignRow,
  config: Pick<Config, 'TRACKING_DOMAIN'>,
): Promise<ApprovalContent> {
  const addresses = await recipientsOf(org, campaign);
  const senders = await sendersOf(org, campaign);
  const steps = await org.query(CampaignSteps).where({ campaign_id: campaign.id }).orderBy('position');
  const variants = await org.query(CampaignVariants).where({ campaign_id: campaign.id, is_active: true }).orderBy('id');
  return {
    title: message('action.launch', { name: campaign.name }),
    recipients: {
      count: addresses.length,
      source: { kind: 'campaign', id: campaign.id, name: campaign.name },
      fingerprint: hashRecipients(addresses),
      ...(addresses.length <= FEW ? { addresses } : {}),
    },
    senders: senders.map(({ id, email, name }) => ({ mailbox_id: id, email, name })),
    schedule: scheduleOf(campaign),
    steps: steps.map((step) => templateOf(step, steps, variantsOf(step, steps, variants))),
    samples: await samplesOf(org, { campaign, config, senders, steps, variants }),
    details: settingsOf(campaign),
  };
}

/** Returns the addresses of unfinished leads in a fixed order. */
async function recipientsOf(org: OrgScope, campaign: CampaignRow): Promise<string[]> {
  const rows = await org.sql<Columns<'contacts', 'email'>>(
    `select c.email from enrollments e join contacts c on c.id = e.contact_id
     where e.organization_id = :org and e.campaign_id = :id and e.state in ('pending', 'active') order by c.email`,
    { id: campaign.id },
  );
  return rows.map(({ email }) => email);
}

/** Returns the senders of the campaign, including held ones, because a hold may begin and end without a person. */
function sendersOf(org: OrgScope, campaign: CampaignRow): Promise<Sender[]> {
  return org.sql<Sender>(
    `select m.id, m.email, m.name, m.reply_to, m.send_as_email, m.signature_html, m.signature_plain from ${POOL_TABLES}
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

/** Returns the settings that change what recipients get. */
function settingsOf(campaign: CampaignRow) {
  return {
    stop_on_reply: campaign.stop_on_reply,
    stop_on_company_reply: campaign.stop_on_company_reply,
    unsubscribe_header: campaign.unsubscribe_header,
    unsubscribe_mode: campaign.unsubscribe_mode,
    open_tracking: campaign.open_tracking,
    link_tracking: campaign.link_tracking,
    text_only: campaign.text_only,
    risky_emails: campaign.risky_emails,
    cc: campaign.cc,
    bcc: campaign.bcc,
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

/** Converts a step to its approved template. Links show the index of their target step. */
function templateOf(
  row: CampaignStepRow,
  steps: readonly CampaignStepRow[],
  variants: readonly CampaignVariantRow[],
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
      variants: copies.map((copy) => ({
        subject: copy.subject,
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
  config: Pick<Config, 'TRACKING_DOMAIN'>;
  senders: readonly Sender[];
  steps: readonly CampaignStepRow[];
  variants: readonly CampaignVariantRow[];
}

/**
 * Builds the first email of up to three recipients, with signature and opt-out. The variants are used in rotation.
 */
async function samplesOf(
  org: OrgScope,
  { campaign, config, senders, steps, variants }: Sampled,
): Promise<ApprovalSample[]> {
  const first = steps.find(({ kind }) => kind === 'email');
  if (!first || senders.length === 0) return [];
  const contacts = await org.sql<MessageContact & { id: string }>(
    `select c.id, c.email, c.first_name, c.last_name, c.company, c.phone, c.custom_fields
     from enrollments e join contacts c on c.id = e.contact_id
     where e.organization_id = :org and e.campaign_id = :id and e.state in ('pending', 'active') order by c.email limit :samples`,
    { id: campaign.id, samples: MAX_SAMPLES },
  );
  const { unsubscribe } = await effectiveSettings(org, campaign.id);
  const own = variantsOf(first, steps, variants);
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
      // Tracking adds nothing visible to a recipient, and would count the approver's opens and clicks.
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
    };
  });
}
