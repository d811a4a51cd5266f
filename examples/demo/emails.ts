import MailComposer from 'nodemailer/lib/mail-composer';

/** Data of an email that is answered. */
interface Answered {
  to: string;
  from: string;
  subject: string;
  text: string;
  messageId: string;
  references: readonly string[];
  at: Date;
}

/** Returns a person's reply, as a mail program would write it. */
export function replyTo(email: Answered, words: string): Promise<Buffer> {
  return compose(
    email,
    `Re: ${email.subject.replace(/^Re: /, '')}`,
    `${words}\n\nOn ${email.at.toUTCString()}, ${email.from} wrote:\n\n${quoted(email)}`,
  );
}

/** Returns the automatic reply of a mail server whose owner is away until `back`. */
export function awayReply(email: Answered, back: Date): Promise<Buffer> {
  const date = back.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
  return compose(
    email,
    `Out of office: ${email.subject}`,
    `Hello,\n\nI am out of the office and will be back on ${date}.`,
    {
      'Auto-Submitted': 'auto-replied',
      Precedence: 'bulk',
    },
  );
}

/**
 * Returns the delivery report of a mail server that accepted an email and then found no mailbox for it (RFC 3464).
 */
export function deliveryReport(email: Answered): string {
  const host = `mx.${email.to.split('@')[1]}`;
  const boundary = `report-${email.messageId.slice(1, 13)}`;
  return `Return-Path: <>
From: Mail Delivery System <MAILER-DAEMON@${host}>
To: ${email.from}
Subject: Undelivered Mail Returned to Sender
Date: ${new Date().toUTCString()}
Message-ID: <${boundary}@${host}>
Auto-Submitted: auto-replied
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="${boundary}"

--${boundary}
Content-Type: text/plain; charset=us-ascii

I'm sorry to have to inform you that your message could not be delivered.

<${email.to}>: 550 5.1.1 User unknown in virtual mailbox table

--${boundary}
Content-Type: message/delivery-status

Reporting-MTA: dns; ${host}

Final-Recipient: rfc822; ${email.to}
Action: failed
Status: 5.1.1
Diagnostic-Code: smtp; 550 5.1.1 <${email.to}>: User unknown in virtual mailbox table

--${boundary}
Content-Type: text/rfc822-headers

From: ${email.from}
To: ${email.to}
Message-ID: ${email.messageId}

--${boundary}--
`.replaceAll('\n', '\r\n');
}

function compose(
  email: Answered,
  subject: string,
  text: string,
  headers: Record<string, string> = {},
): Promise<Buffer> {
  return new MailComposer({
    from: email.to,
    to: email.from,
    subject,
    text,
    headers,
    inReplyTo: email.messageId,
    references: [...email.references, email.messageId],
  })
    .compile()
    .build();
}

function quoted(email: Answered): string {
  return email.text
    .trimEnd()
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
}
