import type { Columns } from '../../../db/rows.ts';
import { classifyInbound, type InboundClassification } from '../../mail/inbound/classify.ts';
import { parseInbound } from '../../mail/inbound/parse.ts';
import { advanceFolder, type MessageLocation } from '../../sending/outcomes/record-inbound.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact } from '../../platform/kernel/transact.ts';
import { evaluateHealth } from './health.ts';

/** Number of bytes at the beginning of a message in which its header is searched. */
const HEAD_BYTES = 65_536;
/** Pattern for the headers of messages written by machines. Messages without such a header are not parsed. */
const BY_MACHINE =
  /^(?:auto-submitted:\s*auto-|content-type:\s*multipart\/report|return-path:\s*<>|x-failed-recipients:|from:[^\n]*(?:mailer-daemon|postmaster|mail delivery))/im;

type Known = Columns<'warmup_mails', 'id' | 'mailbox_id'> & { partner: string | null };

/**
 * Records an automatic message about a warmup email: a bounce, a delay or an absence. The message is not stored as an
 * inbound message and has no effect on threads or campaigns. A bounce lowers the sender's health like an email in spam,
 * but only if the report names the email's recipient. The same transaction also stores the folder's reading progress.
 * @returns true if the message is about a warmup email
 */
export async function recordWarmupReport(
  ctx: Ctx,
  mailbox: { id: string },
  raw: Buffer,
  location: MessageLocation,
): Promise<boolean> {
  if (!BY_MACHINE.test(headOf(raw))) return false;
  const report = classifyInbound(await parseInbound(raw), {}, location.receivedAt);
  if (report.kind === 'reply' || report.threadIds.length === 0) return false;
  const [known] = await reader(ctx).sql<Known>(
    `select w.id, w.mailbox_id, p.email as partner from warmup_mails w left join mailboxes p on p.id = w.partner_id
     where w.organization_id = :org and w.message_id = any(:ids::text[]) and w.mailbox_id = :mailbox limit 1`,
    { ids: report.threadIds, mailbox: mailbox.id },
  );
  if (!known) return false;
  await transact(ctx, async (tx) => {
    await tx.org.sql(`select 1 from mailboxes where organization_id = :org and id = :id for no key update`, {
      id: mailbox.id,
    });
    await advanceFolder(tx, mailbox.id, location);
    const status = failureOf(report, known.partner);
    if (status === undefined) return;
    const changed = await tx.org
      .table('warmup_mails')
      .where({ id: known.id })
      .whereNull('landed')
      .whereIn('state', ['sent', 'uncertain'])
      .update({ state: 'sent', landed: 'bounced', landed_at: tx.now, error: status });
    if (changed > 0) await evaluateHealth(tx, known.mailbox_id);
  });
  return true;
}

/** Returns the status with which an email to an address bounced, or undefined if the report does not state it. */
function failureOf(report: InboundClassification, address: string | null): string | undefined {
  if (report.kind !== 'bounce' || address === null) return undefined;
  const failed = report.recipients.find((one) => one.finalRecipient === address || one.originalRecipient === address);
  return failed && (failed.status ?? report.bounceType);
}

function headOf(raw: Buffer): string {
  const end = raw.indexOf('\r\n\r\n');
  return raw.toString('latin1', 0, Math.min(end === -1 ? raw.length : end, HEAD_BYTES));
}
