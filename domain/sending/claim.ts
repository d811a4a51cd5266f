import { json } from '../../db/connection.ts';
import { hmac } from '../../lib/crypto.ts';
import { newId } from '../../lib/ids.ts';
import { buildMessage, buildUntracked, type BuiltMessage, type MessageInput } from '../mail/messages/build.ts';
import { faultsWithPlaces } from '../mail/messages/render-source.ts';
import { messageIdFor, type Conversation } from '../mail/messages/threading.ts';
import { openPixelUrl, unsubscribeUrl } from '../mail/messages/tracking-urls.ts';
import { settingsColumns, settingsInForce, type OutreachSettings } from './campaign/outreach-settings.ts';
import { askedNow, suppressedNow } from '../directory/suppression-check.ts';
import { trackingToken } from '../mail/messages/tracking-token.ts';
import { subjectOf } from '../platform/kernel/approval-subjects.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader, singleStatement, transact, type Tx } from '../platform/kernel/transact.ts';
import { DELETION_SCHEDULED } from '../platform/workspace-deletion.ts';
import { scheduleOf, type CampaignView } from './campaign/campaign-view.ts';
import { refusedByVerification } from './campaign/launch-checks.ts';
import { releaseReservedSends } from './control/release.ts';
import { isOpen } from '../platform/scheduling/windows.ts';
import { settleTestEmail } from './control/test-runs.ts';
import { approvalChanges } from './approved.ts';
import { blockComposition } from './composition.ts';
import { allowedCopies } from './copies.ts';
import {
  buildClaim,
  composeMessage,
  EARLY_MS,
  lockClaims,
  mailboxRefusal,
  sealedMailboxOf,
  STALE_SLOT_MS,
  acquireMailHost,
  type Claim,
  type ClaimRow,
  type Json,
} from './claimed.ts';
import { dimensionsOf } from './dimensions.ts';
import { settleDirectSend } from './control/direct-sends.ts';
import { claimDirect } from './direct-claim.ts';
import { readAttachments, withFiles, type FetchedFiles } from '../platform/attachments.ts';
import { attachedTo } from './campaign/attachments.ts';
import { testEmailSql, lastSentAt } from './seats.ts';
import { sentFacts } from './settle.ts';
import { commonCopy, headersOf, storeContent } from './control/sent-content.ts';
import { readTestEmail } from './test-email.ts';
import { message, type Message } from '../../messages/index.ts';

export type { Claim, ClaimedSend } from './claimed.ts';

/**
 * Claims a reserved email for sending (`reserved -> sending`); no other code does so. Checks campaign, hold, reply
 * state, suppression, mailbox and window again, and compares the email with its approval. The email is sent to the
 * contact's current address, even if the address has changed since the slot was reserved. The row and its events record
 * the current address. The row is committed with its Message-ID before any byte is sent, so no crash can cause a second
 * send.
 * @param acquire takes a permit for a mail host (host:port). If it returns false, the email is not claimed. May be
 * called again when the transaction is retried.
 */
export async function claimSend(
  ctx: Ctx,
  sendId: string,
  acquire: (host: string) => boolean = () => true,
): Promise<Exclude<Claim, { kind: 'changed' }>> {
  const claim = await withFiles(ctx, (fetched) => claimLocked(ctx, sendId, acquire, fetched));
  if (claim.kind !== 'changed') return claim;
  // Stops the campaign, lead or direct send in a separate transaction, because writers lock it before its emails. If
  // the process crashes here, the email stays reserved and the next attempt claims it.
  await transact(ctx, async (tx) => subjectOf(tx, claim.type).stop!(tx, claim.email, ctx.config));
  return { kind: 'gone', outcome: 'not_as_approved' };
}

/**
 * Returns true if a campaign email is due and probably needs only a free connection of its mail host (host:port). Reads
 * without locks, so the claim checks the email again.
 */
export async function waitsForHost(ctx: Ctx, sendId: string, host: string): Promise<boolean> {
  const now = ctx.clock.now().getTime();
  const rows = await reader(ctx).sql(
    `select s.id from sends s join enrollments e on e.id = s.enrollment_id join campaigns c on c.id = s.campaign_id
       join mailboxes m on m.id = s.mailbox_id
     where s.organization_id = :org and s.id = :send and s.state = 'reserved' and s.slot_at between :stale and :due
       and e.state = 'active' and e.hold_since is null and c.status = 'active'
       and m.status = 'active' and m.hold_code is null and m.imap_hold_code is null
       and m.smtp ->> 'host' || ':' || (m.smtp ->> 'port') = :host`,
    { send: sendId, host, stale: new Date(now - STALE_SLOT_MS), due: new Date(now + EARLY_MS) },
  );
  return rows.length > 0;
}

/** @param fetched files of the email that are not stored in PostgreSQL */
async function claimLocked(
  ctx: Ctx,
  sendId: string,
  acquire: (host: string) => boolean,
  fetched: FetchedFiles,
): Promise<Claim> {
  return transact(ctx, async (tx) => {
    const stored = await lockAndRead(tx, sendId);
    if (!stored) return { kind: 'gone', outcome: 'released' };
    const test = stored.enrollment ? undefined : await readTestEmail(tx, sendId);
    const row = test ? { ...stored, ...test } : stored;
    const { send } = row;
    if (send.state === 'sending') {
      const left = await recoverAbandonedClaim(ctx, tx, row);
      if (left) return left;
    }
    if (send.state !== 'reserved') return { kind: 'gone', outcome: send.state };
    const due = new Date(send.slot_at).getTime();
    if (due > tx.now.getTime() + EARLY_MS) return { kind: 'busy', until: due, isUnderWay: false };
    if (row.workspace_ends) return giveUp(tx, sendId, { isTest: test !== undefined, isDirect: row.direct !== null });
    if (row.direct) return claimDirect(ctx, tx, { ...row, direct: row.direct }, acquire, fetched);
    return claimOfCampaign(ctx, tx, row, { isTest: test !== undefined, acquire, fetched });
  });
}

/** Claims the email of a lead or of a test run. The row is locked and due. */
async function claimOfCampaign(
  ctx: Ctx,
  tx: Tx,
  row: ClaimRow,
  { isTest, acquire, fetched }: { isTest: boolean; acquire: (host: string) => boolean; fetched: FetchedFiles },
): Promise<Claim> {
  const { send, enrollment, campaign, step, contact, mailbox } = row;
  const settings = settingsInForce({
    workspace: row.workspace,
    overrides: row.overrides,
    mode: campaign?.unsubscribe_mode ?? null,
  });
  const refusal = refusalOf(tx, row, settings);
  if (refusal || !enrollment || !campaign || !step || !contact || !mailbox) {
    if (isTest && (refusal === 'suppressed' || refusal === 'opt_out_asked'))
      return failTest(tx, send.id, message('ended.suppressed_address'));
    await releaseReservedSends(tx, { sendId: send.id });
    return { kind: 'gone', outcome: refusal ?? 'record_missing' };
  }
  const changed = isTest ? undefined : approvalChanges(row, settings);
  if (changed) {
    const { ofLead, fields } = changed;
    const email = { subjectId: campaign.id, enrollmentId: enrollment.id, approvalId: row.approval_id, fields };
    return { kind: 'changed', type: ofLead ? 'campaign_leads' : 'campaign', email };
  }
  const attachments = await readAttachments(ctx, tx, row.files, fetched);
  const whole = { ...row, mailbox };
  const server = await acquireMailHost(ctx, tx, whole, acquire);
  if ('answer' in server) return server.answer;
  const copies = await allowedCopies(tx, campaign.id, campaign as { cc: string[]; bcc: string[] });
  const input = messageInput(ctx, { ...row, campaign: { ...campaign, ...copies } }, settings.unsubscribe);
  const built = buildMessage({ ...input, attachments });
  if (built.errors.length > 0) {
    const faults = faultsWithPlaces(built.errors);
    if (isTest) return failTest(tx, send.id, faults);
    await blockComposition(
      tx,
      {
        sendId: send.id,
        stepRunId: send.step_run_id,
        enrollmentId: enrollment.id,
        contactId: contact.id,
        campaignId: campaign.id,
        step: { id: step.id, name: step.name },
        again: send.again,
      },
      faults,
    );
    return { kind: 'gone', outcome: 'blocked' };
  }
  const composed = await composeMessage(built.options, mailbox);
  const token = await markSending(tx, row, built, input);
  return buildClaim(whole, {
    ...composed,
    token,
    target: server.target,
    messageId: built.options.messageId,
    recipient: composed.envelope.to[0]!,
    isDirect: false,
    enrollmentId: isTest ? null : enrollment.id,
    facts: sentFacts({
      id: send.id,
      campaign_id: send.campaign_id,
      step_id: step.id,
      contact_id: contact.id,
      recipient: contact.email,
      mailbox_id: mailbox.id,
      message_id: built.options.messageId,
    }),
  });
}

/**
 * Treats a reserved or claimed email as possibly sent, as after the crash of a worker that had submitted the whole
 * message. A later attempt searches the Sent folder for its Message-ID; without a match the email becomes uncertain.
 * Used for a database restored from a backup whose workers continued after the backup.
 * @param claimedAt earliest time of the claim; if more than SEND_CLAIM_MS ago, the search in the Sent folder starts at
 * once
 * @returns false when the email is neither reserved nor claimed
 */
export async function markUncertain(ctx: Ctx, sendId: string, claimedAt: Date): Promise<boolean> {
  return transact(ctx, async (tx) => {
    const row = await lockAndRead(tx, sendId);
    if (!row || !['reserved', 'sending'].includes(row.send.state)) return false;
    const { send, enrollment, campaign, step, contact, mailbox, direct } = row;
    if (send.state === 'reserved' && enrollment && campaign && step && contact && mailbox) {
      const settings = settingsInForce({
        workspace: row.workspace,
        overrides: row.overrides,
        mode: campaign.unsubscribe_mode ?? null,
      });
      // Later emails of the conversation need the subject and Message-ID that this email would have had.
      const input = messageInput(ctx, row, settings.unsubscribe);
      const built = buildMessage(input);
      if (built.errors.length === 0) await markSending(tx, row, built, input);
    }
    const sender = mailbox?.send_as_email || mailbox?.email || 'unknown@invalid';
    await tx.org.sql(
      `update sends set state = 'sending', handover = 'begun', claim_token = :token, claimed_at = :claimedAt, updated_at = :now,
         message_id = coalesce(message_id, :message), subject = coalesce(nullif(subject, ''), :subject)
       where organization_id = :org and id = :id`,
      {
        id: sendId,
        token: newId(),
        claimedAt,
        now: tx.now,
        message: direct?.message_id ?? messageIdFor(sendId, sender),
        subject: direct?.subject ?? '',
      },
    );
    return true;
  });
}

/**
 * Releases an email of a workspace that will be erased. A test run and a direct send end, and a lead's campaign is
 * paused.
 */
async function giveUp(
  tx: Tx,
  sendId: string,
  { isTest, isDirect }: { isTest: boolean; isDirect: boolean },
): Promise<Claim> {
  if (isTest) return failTest(tx, sendId, message('ended.workspace_ends'));
  await releaseReservedSends(tx, { sendId });
  if (isDirect) await settleDirectSend(tx, sendId, { state: 'cancelled' });
  return { kind: 'gone', outcome: 'workspace_deletion_scheduled' };
}

/** Fails the step of a test run whose email can never be sent. */
async function failTest(tx: Tx, sendId: string, detail: Message): Promise<Claim> {
  await releaseReservedSends(tx, { sendId });
  await settleTestEmail(tx, sendId, { state: 'failed', outcome: 'failed', detail });
  return { kind: 'gone', outcome: 'failed' };
}

/**
 * Locks the enrollment, direct send or test run before the send, in the order used by all writers. Allows only one
 * claim at a time per mailbox.
 */
async function lockAndRead(tx: Tx, sendId: string): Promise<ClaimRow | undefined> {
  // An email belongs to an enrollment, a direct send or a test run. One statement locks all three, because most emails
  // belong to campaigns.
  const lock = tx.org.sql(
    `select (select e.id from enrollments e where e.organization_id = :org
         and e.id = (select enrollment_id from sends where id = :send and organization_id = :org) for update) as enrollment,
       (select d.id from direct_sends d where d.organization_id = :org and d.id = :send for update) as direct,
       (select r.id from test_runs r where r.organization_id = :org
         and r.id = (select test_run_id from test_run_steps where organization_id = :org and id = :send) for no key update) as test,
       (select ${lockClaims('s.mailbox_id')} from sends s where s.organization_id = :org and s.id = :send) as claims`,
    { send: sendId },
  );
  const read = tx.org.sql<ClaimRow>(
    `select to_jsonb(s) as send, to_jsonb(e) as enrollment, to_jsonb(c) as campaign, to_jsonb(st) as step, to_jsonb(v) as variant,
       to_jsonb(ct) as contact, to_jsonb(m) - 'credentials' as mailbox, m.credentials, t.sealed as tokens, t.access_expires_at,
       to_jsonb(d) as direct, ${attachedTo('c.id', 'st.id')} as files, ${DELETION_SCHEDULED} as workspace_ends,
       ${settingsColumns('c')}, ${suppressedNow('s.organization_id', 'ct.email')} as suppressed,
       ap.id as approval_id, ap.binding -> 'senders' -> s.mailbox_id::text as approved_sender,
       ap.binding -> 'copies' -> coalesce(v.id::text, st.id::text, 'email') as approved_copy, ap.binding -> 'settings' as approved_settings,
       case when e.approved is not null then heron_lead_changes(ct, e.approved) end as lead_changes,
       ${askedNow('s.organization_id', 'ct.email')} as asked,
       greatest(${lastSentAt('s.mailbox_id')},
         (select max(o.claimed_at) from sends o where o.mailbox_id = s.mailbox_id and o.state = 'sending' and o.id <> s.id and not ${testEmailSql('o.id')}),
         (select max(w.claimed_at) from warmup_mails w where w.mailbox_id = s.mailbox_id and w.state = 'sending')) as mailbox_sent_at
     from sends s
     left join enrollments e on e.id = s.enrollment_id
     left join campaigns c on c.id = s.campaign_id
     left join campaign_steps st on st.id = s.step_id
     left join campaign_variants v on v.id = s.variant_id
     left join contacts ct on ct.id = s.contact_id
     left join mailboxes m on m.id = s.mailbox_id
     left join direct_sends d on d.id = s.id
     left join mailbox_tokens t on t.mailbox_id = s.mailbox_id
     left join approvals ap on ap.id = coalesce(d.approval_id, c.approval_id)
     where s.organization_id = :org and s.id = :send
     for update of s`,
    { send: sendId, now: tx.now },
  );
  // Both queries are sent together. PostgreSQL runs the second one after the first has its lock.
  const [, [row]] = await Promise.all([lock, read]);
  return row;
}

/**
 * Handles an email claimed by another attempt. If that worker crashed before the end of the message, the email returns
 * to its slot and the attempt is not counted. The result is then undefined and the claim continues. If the whole
 * message may have been submitted, the caller must find out if it was sent.
 */
async function recoverAbandonedClaim(ctx: Ctx, tx: Tx, row: ClaimRow): Promise<Claim | undefined> {
  const { send } = row;
  const until = new Date(send.claimed_at).getTime() + ctx.config.SEND_CLAIM_MS;
  if (until > tx.now.getTime()) return { kind: 'busy', until, isUnderWay: true };
  if (send.handover === 'pending') {
    // Removes the token. If another attempt was wrongly assumed to have crashed, it can then neither record the end of
    // its message nor submit it.
    const back = { state: 'reserved', attempts: Math.max(0, send.attempts - 1) } as const;
    await tx.org
      .table('sends')
      .where({ id: send.id })
      .update({ ...back, claim_token: null, claimed_at: null, handover: null, updated_at: tx.now });
    Object.assign(send, back);
    return undefined;
  }
  // Sets a new token. If another attempt was wrongly assumed to have crashed, it can then no longer store the result of
  // the email.
  const token = newId();
  await tx.org
    .table('sends')
    .where({ id: row.send.id })
    .update({ claim_token: token, claimed_at: tx.now, updated_at: tx.now });
  return {
    kind: 'abandoned',
    sendId: row.send.id,
    mailbox: sealedMailboxOf(row),
    messageId: row.send.message_id,
    token,
  };
}

/**
 * Records that the end of a message is about to be submitted. Sending the message again could then duplicate it.
 * Commits as one statement.
 * @returns false when another worker has taken over the claim; the message must then not be completed
 */
export async function markSubmission(ctx: Ctx, claim: { sendId: string; token: string }): Promise<boolean> {
  const rows = await singleStatement(ctx).sql(
    `update sends set handover = 'begun' where organization_id = :org and id = :id and state = 'sending' and claim_token = :token returning id`,
    { id: claim.sendId, token: claim.token },
  );
  return rows.length > 0;
}

/** Returns the reason why this email must not be sent now, or undefined if it may be sent. */
function refusalOf(tx: Tx, row: ClaimRow, { task_reliability: reliability }: OutreachSettings): string | undefined {
  const { send, enrollment, campaign, step, contact, suppressed, asked } = row;
  const window = reliability.enabled
    ? Math.min(reliability.execution_window_seconds * 1000, STALE_SLOT_MS)
    : STALE_SLOT_MS;
  if (!enrollment) return 'deleted';
  if (!campaign || campaign.status !== 'active') return 'campaign_not_active';
  if (enrollment.state !== 'active') return enrollment.state;
  if (step?.kind !== 'email') return 'step_changed';
  if (enrollment.hold_since && (!enrollment.hold_until || new Date(enrollment.hold_until) > tx.now)) return 'held';
  if (!contact) return 'contact_deleted';
  if (!contact.subscribed) return 'unsubscribed';
  if (refusedByVerification(contact.verification_status, { riskyAllowed: campaign.risky_emails }))
    return 'undeliverable';
  const atRest = mailboxRefusal(tx, row);
  if (atRest) return atRest;
  if (new Date(send.slot_at).getTime() < tx.now.getTime() - window) return 'slot_missed';
  if (!isOpen(scheduleOf(withDates(campaign)), tx.now)) return 'window_closed';
  if (suppressed) return 'suppressed';
  return asked ? 'opt_out_asked' : undefined;
}

function withDates(campaign: Json): CampaignView {
  return {
    ...campaign,
    start_date: campaign.start_date ? new Date(campaign.start_date) : null,
    end_date: campaign.end_date ? new Date(campaign.end_date) : null,
  } as CampaignView;
}

function messageInput(ctx: Ctx, row: ClaimRow, unsubscribe: MessageInput['unsubscribe']): MessageInput {
  const { send, variant } = row;
  const enrollment = row.enrollment!;
  const campaign = row.campaign!;
  const mailbox = row.mailbox!;
  const contact = row.contact!;
  const copy = variant ?? row.step!;
  const base = trackingBase(ctx, campaign, mailbox);
  const secret = ctx.keyring.tracking.current;
  const optOut = unsubscribeUrl(base, trackingToken(secret, 'unsubscribe', send.id));
  return {
    sendId: send.id,
    sender: {
      email: mailbox.email,
      name: mailbox.name,
      replyTo: mailbox.reply_to,
      sendAs: mailbox.send_as_email,
      signatureHtml: mailbox.signature_html,
      signaturePlain: mailbox.signature_plain,
    },
    contact: {
      email: contact.email,
      first_name: contact.first_name,
      last_name: contact.last_name,
      company: contact.company,
      phone: contact.phone,
      custom_fields: contact.custom_fields,
    },
    app: enrollment.app_values,
    step: {
      subject: copy.subject || row.step!.subject,
      body_plain: copy.body_plain,
      body_html: copy.body_html,
      threadReply: row.step!.thread_reply,
    },
    campaign: {
      name: campaign.name,
      textOnly: campaign.text_only,
      openTracking: campaign.open_tracking,
      linkTracking: campaign.link_tracking,
      unsubscribeHeader: campaign.unsubscribe_header,
      cc: campaign.cc,
      bcc: campaign.bcc,
      ...(campaign.utm_tracking
        ? { utm: { source: campaign.utm_source, medium: campaign.utm_medium, campaign: campaign.utm_campaign } }
        : {}),
    },
    unsubscribe,
    conversation: enrollment.conversation as Conversation,
    urls: {
      trackingBase: base,
      pixelUrl: openPixelUrl(base, trackingToken(secret, 'open', send.id)),
      unsubscribeUrl: optOut,
      oneClickUrl: optOut,
    },
    ticketId: (index) => ticketId(secret, send.id, index),
  };
}

/**
 * Returns the tracking origin: the campaign's domain. Without one, uses the mailbox's domain, and finally that of the
 * installation. Unverified domains are ignored.
 */
function trackingBase(ctx: Ctx, campaign: Json, mailbox: Json): string {
  if (campaign.tracking_domain && campaign.tracking_domain_verified) return `https://${campaign.tracking_domain}`;
  if (mailbox.tracking_domain && mailbox.tracking_domain_verified) return `https://${mailbox.tracking_domain}`;
  return ctx.config.TRACKING_DOMAIN;
}

/** Returns the id of a message's nth link ticket. The id is the same on every build and cannot be guessed. */
function ticketId(secret: Buffer | string, sendId: string, index: number): string {
  const hex = hmac(secret, `heron/ticket/${sendId}/${index}`).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * Stores the claim of this attempt: token, Message-ID, subject, threading, link tickets and content.
 * @returns the token that is needed to store the result
 */
async function markSending(tx: Tx, row: ClaimRow, built: BuiltMessage, input: MessageInput): Promise<string> {
  const { send, campaign, step, contact } = row;
  const token = newId();
  const dimensions = dimensionsOf(row);
  const { from, to, cc, bcc, replyTo, subject } = built.options;
  const headers = headersOf({ from, to: [to], cc, bcc, replyTo });
  await storeContent(
    tx,
    (kept) => `with links as (
       insert into tracked_links (id, organization_id, send_id, campaign_id, step_id, contact_id, url, label, position, created_at)
       select t.id, :org, :send, :campaign, :step, :contact, t.url, t.label, t.position, :now
       from jsonb_to_recordset(:links) as t(id uuid, url text, label text, position int)
       on conflict (id) do update set url = excluded.url, label = excluded.label, position = excluded.position
     ), ${kept}
     update sends set state = 'sending', claim_token = :token, claimed_at = :now, attempts = attempts + 1, updated_at = :now,
       handover = 'pending',
       dimensions = :dimensions::jsonb || jsonb_build_object('category_ids',
         (select coalesce(jsonb_agg(label_id order by label_id), '[]') from contact_categories where organization_id = :org and contact_id = :contact)),
       message_id = :message, subject = :subject, conversation = :conversation, recipient = :recipient
     where organization_id = :org and id = :send and exists (select from kept) returning id`,
    {
      send: send.id,
      campaign: campaign!.id,
      step: step!.id,
      contact: contact!.id,
      token,
      now: tx.now,
      recipient: contact!.email,
      message: built.options.messageId,
      subject,
      conversation: json(built.conversation),
      dimensions: json(dimensions),
      links: json(built.links.map(({ ticketId: id, url, label, position }) => ({ id, url, label, position }))),
    },
    {
      content: {
        ...headers,
        written: { subject, ...buildUntracked(input), ...(row.files.length > 0 ? { files: row.files } : {}) },
      },
      copy: commonCopy(input, dimensions.copy_hash),
    },
  );
  return token;
}
