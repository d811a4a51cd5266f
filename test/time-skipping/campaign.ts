import { newId } from '../../lib/ids.ts';
import {
  createCampaign,
  createContact,
  createMailbox,
  createSession,
  enroll,
  type StepSpec,
  type Tenant,
} from '../harness/factories.ts';
import type { MailWorldMailbox } from '../harness/mail.ts';
import type { SkippingStage } from '../harness/skipped-time.ts';
import type { TimedMailWorld } from './timed-mail.ts';

/** Started campaign with one lead. */
interface StartedCampaign {
  tenant: Tenant;
  campaignId: string;
  stepIds: string[];
  contactId: string;
  /** Address of the lead. */
  email: string;
  /** Mailbox of the sender on the mail servers. */
  box: MailWorldMailbox;
  enrollment(): Promise<Record<string, any>>;
  /** Creates a new session of the workspace's person, because the first one expires during the months of a test. */
  signIn(): Promise<string>;
}

/**
 * Starts a campaign of a new workspace with one mailbox and one lead.
 * @param options.mailDomain domain of the lead's address
 * @param options.link changes the steps before they are read; by default each step leads to the next one in the list
 */
export async function startCampaign(
  { world, engine, parts }: SkippingStage<TimedMailWorld>,
  steps: StepSpec[],
  {
    campaign = {},
    mailDomain = 'example.com',
    link = async () => {},
  }: {
    campaign?: Record<string, unknown>;
    mailDomain?: string;
    link?: (stepIds: string[]) => Promise<void>;
  } = {},
): Promise<StartedCampaign> {
  const { deps } = world;
  const tenant = await world.tenant();
  const { organizationId } = tenant;
  const sender = `sam-${newId()}@ours.test`;
  const box = await parts.addMailbox(sender);
  await createMailbox(deps, organizationId, sender, { smtp: box.smtp, imap: box.imap });
  const { campaignId, stepIds } = await createCampaign(deps, organizationId, steps, campaign);
  await link(stepIds);
  const email = `lead-${newId()}@${mailDomain}`;
  const contactId = await createContact(deps.db, deps.clock.now(), organizationId, { email });
  await enroll(deps, organizationId, campaignId, [contactId]);
  await engine.launch(organizationId, campaignId);
  return {
    tenant,
    campaignId,
    stepIds,
    contactId,
    email,
    box,
    signIn: () => createSession(deps, tenant.userId, organizationId),
    enrollment: () => deps.db('enrollments').where({ campaign_id: campaignId, contact_id: contactId }).first(),
  };
}
