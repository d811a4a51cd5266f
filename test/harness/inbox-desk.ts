import { recordInbound } from '../../domain/sending/outcomes/record-inbound.ts';
import { newId } from '../../lib/ids.ts';
import { createCampaign, createMailbox, type Tenant } from './factories.ts';
import { createSentLead, type SentLead } from './standing-leads.ts';
import { call, type Answer, type World } from './world.ts';

/** Id and address of a mailbox. */
interface Box {
  id: string;
  email: string;
}

/** Mailbox of a workspace. Messages are recorded as if they were read from its server. */
interface Inbox {
  tenant: Tenant;
  mailboxId: string;
  email: string;
  /** Calls the API with the given token; by default with the tenant's key. */
  get(path: string, token?: string): Promise<Answer>;
  /** Records a message, by default in this mailbox and now. Returns its id. */
  receive(raw: Buffer, box?: Box, receivedAt?: Date): Promise<string>;
}

/** Creates a mailbox in a workspace, by default a new one. */
export async function openInbox(world: World, inTenant?: Tenant): Promise<Inbox> {
  const { deps } = world;
  const tenant = inTenant ?? (await world.tenant());
  const { organizationId } = tenant;
  const email = `${newId()}@ours.test`;
  const mailboxId = await createMailbox(deps, organizationId, email);
  let uid = 0;
  return {
    tenant,
    mailboxId,
    email,
    get: (path, token = tenant.apiKey) => call(world, 'GET', `/v1/unibox${path}`, { token }),
    async receive(raw, box = { id: mailboxId, email }, receivedAt = deps.clock.now()) {
      uid += 1;
      const at = { folder: 'INBOX', uidValidity: 1, uid, receivedAt };
      await recordInbound(world.system(organizationId), box, raw, at);
      return (await deps.db('inbound_messages').where({ mailbox_id: box.id, uid: at.uid }).first('id'))?.id;
    },
  };
}

/** Creates an inbox with a campaign of two emails, the first of which can be answered. */
export async function openCampaignInbox(world: World) {
  const inbox = await openInbox(world);
  const { tenant, mailboxId, email } = inbox;
  const { campaignId, stepIds } = await createCampaign(world.deps, tenant.organizationId, [
    { subject: 'Hello', body_plain: 'Hi' },
    { body_plain: 'Again' },
  ]);
  return {
    ...inbox,
    campaignId,
    stepIds,
    /** Creates a contact that got the first email. */
    mailed: (to: string): Promise<SentLead> =>
      createSentLead(world.deps, tenant.organizationId, {
        campaignId,
        stepId: stepIds[0]!,
        mailbox: { id: mailboxId, email },
        email: to,
      }),
  };
}

/** Returns a message of several MIME parts, each with its headers. */
export function multipartMessage(to: string, parts: readonly string[], from = 'lea@lead.test'): Buffer {
  const lines = [
    `From: ${from}`,
    `To: ${to}`,
    'Subject: Parts',
    `Message-ID: <${newId()}@lead.test>`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="cut"',
    '',
    ...parts.flatMap((part) => ['--cut', part]),
    '--cut--',
    '',
  ];
  return Buffer.from(lines.join('\r\n'));
}

/** Returns a MIME part with a file. */
export function filePart(name: string, bytes: Buffer | string, type = 'application/pdf'): string {
  return [
    `Content-Type: ${type}; name="${name}"`,
    `Content-Disposition: attachment; filename="${name}"`,
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from(bytes).toString('base64'),
  ].join('\r\n');
}
