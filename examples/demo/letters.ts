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
export function replyTo(letter: Answered, words: string): Promise<Buffer> {
  return compose(
    letter,
    `Re: ${letter.subject.replace(/^Re: /, '')}`,
    `${words}\n\nOn ${letter.at.toUTCString()}, ${letter.from} wrote:\n\n${quoted(letter)}`,
  );
}

/** Returns the automatic reply of a mail server whose owner is away until `back`. */
export function awayReply(letter: Answered, back: Date): Promise<Buffer> {
  const date = back.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
  return compose(
    letter,
    `Out of office: ${letter.subject}`,
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
export function deliveryReport(letter: Answered): string {
  const host = `mx.${letter.to.split('@')[1]}`;
  const boundary = `report-${letter.messageId.slice(1, 13)}`;
  return `Return-Path: <>
From: Mail Delivery System <MAILER-DAEMON@${host}>
To: ${letter.from}
Subject: Undelivered Mail Returned to Sender
Date: ${new Date().toUTCString()}
Message-ID: <${boundary}@${host}>
Auto-Submitted: auto-replied
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="${boundary}"

--${boundary}
Content-Type: text/plain; charset=us-ascii

I'm sorry to have to inform you that your message could not be delivered.

<${letter.to}>: 550 5.1.1 User unknown in virtual mailbox table

--${boundary}
Content-Type: message/delivery-status

Reporting-MTA: dns; ${host}

Final-Recipient: rfc822; ${letter.to}
Action: failed
Status: 5.1.1
Diagnostic-Code: smtp; 550 5.1.1 <${letter.to}>: User unknown in virtual mailbox table

--${boundary}
Content-Type: text/rfc822-headers

From: ${letter.from}
To: ${letter.to}
Message-ID: ${letter.messageId}

--${boundary}--
`.replaceAll('\n', '\r\n');
}

function compose(
  letter: Answered,
  subject: string,
  text: string,
  headers: Record<string, string> = {},
): Promise<Buffer> {
  return new MailComposer({
    from: letter.to,
    to: letter.from,
    subject,
    text,
    headers,
    inReplyTo: letter.messageId,
    references: [...letter.references, letter.messageId],
  })
    .compile()
    .build();
}

function quoted(letter: Answered): string {
  return letter.text
    .trimEnd()
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
}
