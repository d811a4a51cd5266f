import type { SendMailOptions } from 'nodemailer';
import { attachedParts, checkAddress, type MessageFile, type MessageSender } from './build.ts';
import type { MessageError } from './render-source.ts';
import { headerText } from './text.ts';

/** An email as written by a person or an agent. The text is sent as written, without merge fields and tracking. */
interface DirectMessage {
  readonly sender: Pick<MessageSender, 'email' | 'name' | 'replyTo' | 'sendAs'>;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string | null;
  readonly messageId: string;
  readonly inReplyTo: string | null;
  /** Message-IDs with angle brackets, oldest first. */
  readonly references: readonly string[];
  readonly attachments: readonly MessageFile[];
}

/** Builds the message of a direct send. A message with errors must not be sent. */
export function buildDirectMessage(message: DirectMessage): { options: SendMailOptions; errors: MessageError[] } {
  const errors: MessageError[] = [];
  const address = (value: string) => ({ name: '', address: checkAddress(value, errors) });
  const { sender, cc, bcc, html, inReplyTo, references, attachments } = message;
  const options: SendMailOptions = {
    from: { name: headerText(sender.name ?? ''), address: checkAddress(sender.sendAs || sender.email, errors) },
    to: message.to.map(address),
    ...(cc.length > 0 ? { cc: cc.map(address) } : {}),
    ...(bcc.length > 0 ? { bcc: bcc.map(address) } : {}),
    ...(sender.replyTo ? { replyTo: address(sender.replyTo) } : {}),
    subject: headerText(message.subject),
    text: message.text,
    ...(html === null ? {} : { html }),
    messageId: message.messageId,
    ...(inReplyTo === null ? {} : { inReplyTo }),
    ...(references.length === 0 ? {} : { references: [...references] }),
    attachments: attachedParts(attachments),
    // The written text is untrusted: it must not make nodemailer read a file or a URL.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  return { options, errors };
}
