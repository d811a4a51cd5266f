import type { ApprovalContent } from '../../../db/json-columns.ts';
import type { Columns } from '../../../db/rows.ts';
import { shownSender, type SenderColumns } from '../../sending/approved.ts';
import { hashRecipients } from '../../approvals/payload.ts';
import { plainToHtml } from '../../mail/messages/html.ts';
import { message } from '../../../messages/index.ts';

/** Columns of an email about which an approver decides. */
export type WrittenEmail = Columns<
  'direct_sends',
  | 'kind'
  | 'to_emails'
  | 'cc_emails'
  | 'bcc_emails'
  | 'subject'
  | 'body_plain'
  | 'body_html'
  | 'attachments'
  | 'send_mode'
  | 'scheduled_at'
  | 'thread_id'
>;

/** Returns the content for an approver: the exact email, its recipients and its time. */
export function approvalContent(email: WrittenEmail, sender: SenderColumns): ApprovalContent {
  const addresses = [...email.to_emails, ...email.cc_emails, ...email.bcc_emails];
  const from = shownSender(sender);
  const html = email.body_html ?? plainToHtml(email.body_plain);
  return {
    title: message(email.kind === 'reply' ? 'action.reply' : 'action.email', { subject: email.subject }),
    recipients: {
      count: new Set(addresses).size,
      source: { kind: 'addresses' },
      fingerprint: hashRecipients(addresses),
      addresses,
    },
    senders: [from],
    schedule: email.send_mode === 'scheduled' ? { at: email.scheduled_at.toISOString() } : null,
    steps: [
      {
        name: email.kind === 'reply' ? 'Reply' : 'Email',
        type: 'email',
        variants: [{ subject: email.subject, body_plain: email.body_plain, body_html: email.body_html ?? '' }],
      },
    ],
    samples: [
      {
        to: email.to_emails.join(', '),
        from: from.email,
        ...(email.cc_emails.length > 0 ? { cc: email.cc_emails } : {}),
        subject: email.subject,
        text: email.body_plain,
        html,
        ...(email.attachments.length > 0
          ? { attachments: email.attachments.map(({ filename, size_bytes: size }) => ({ filename, size })) }
          : {}),
      },
    ],
    details: {
      thread_id: email.thread_id,
      bcc: email.bcc_emails,
      attachments: email.attachments.map(({ filename, content_type, sha256 }) => ({ filename, content_type, sha256 })),
    },
  };
}
