import type { ReceivedMessage } from '../harness/mail.ts';

export type { MailWorld, MailWorldMailbox, ReceivedMessage } from '../harness/mail.ts';

/** Returns the Message-ID of a received message, including brackets; empty if it has none. */
export function messageIdOf({ raw }: Pick<ReceivedMessage, 'raw'>): string {
  return header(raw, 'message-id');
}

/** Returns one header of a message, unfolded. */
export function header(raw: Buffer, name: string): string {
  const text = raw.toString('latin1');
  const head = text.slice(0, text.indexOf('\r\n\r\n')).replace(/\r\n[ \t]+/g, ' ');
  const line = head.split('\r\n').find((entry) => entry.toLowerCase().startsWith(`${name}:`));
  return line ? line.slice(name.length + 1).trim() : '';
}
