/** An email to write, as the three routes take it. Addresses are lower-case. */
export interface DirectSendInput {
  /** The mailbox it leaves from; a reply that names none leaves from the mailbox of its conversation. */
  email_account_id?: string | undefined;
  to?: string[] | undefined;
  cc?: string[] | undefined;
  bcc?: string[] | undefined;
  subject?: string | undefined;
  body_plain?: string | undefined;
  body_html?: string | undefined;
  /** Answers everybody whom the message names that is answered; those of its To and Cc get a copy, beside `cc`. */
  reply_all?: boolean | undefined;
  /** Message-IDs; the first that is known is the message that is answered. */
  in_reply_to?: string[] | undefined;
  thread_id?: string | undefined;
  send_mode?: 'instant' | 'smart' | 'scheduled' | undefined;
  scheduled_at?: Date | undefined;
  attachments?: AttachmentInput[] | undefined;
}

/** A file to attach; its bytes in base64. */
export interface AttachmentInput {
  filename: string;
  content_type: string;
  content: string;
}

/** Whether it begins a conversation or answers in one. */
export type DirectSendKind = 'compose' | 'reply';

/** Addresses an email may go to, cc and bcc included. */
export const MAX_RECIPIENTS = 50;
export const MAX_ATTACHMENTS = 10;
/** Bytes of all attachments of an email together. Mail servers refuse messages of about 25 MB, and base64 adds a third. */
export const MAX_ATTACHMENT_BYTES = 7 * 1024 * 1024;
/** How far ahead (ms) an email may be scheduled. */
export const MAX_AHEAD_MS = 366 * 86_400_000;
