/** Fields of an email to send, as given to the three routes. Addresses are lower-case. */
export interface DirectSendInput {
  /** The sending mailbox. If it is absent, a reply is sent from the conversation's mailbox. */
  email_account_id?: string | undefined;
  to?: string[] | undefined;
  cc?: string[] | undefined;
  bcc?: string[] | undefined;
  subject?: string | undefined;
  body_plain?: string | undefined;
  body_html?: string | undefined;
  /** True to send the reply also to To and Cc of the earlier message, in addition to `cc`. */
  reply_all?: boolean | undefined;
  /** Message-IDs. The reply refers to the first one that is known. */
  in_reply_to?: string[] | undefined;
  thread_id?: string | undefined;
  send_mode?: 'instant' | 'smart' | 'scheduled' | undefined;
  scheduled_at?: Date | undefined;
  attachments?: AttachmentInput[] | undefined;
}

/** A file to attach. Its content is base64. */
export interface AttachmentInput {
  filename: string;
  content_type: string;
  content: string;
}

/** `compose` starts a conversation, `reply` continues one. */
export type DirectSendKind = 'compose' | 'reply';

/** Maximum number of recipients of an email, including cc and bcc. */
export const MAX_RECIPIENTS = 50;
/**
 * Maximum total size (bytes) of an email's attachments. Mail servers refuse messages of about 25 MB, and base64 adds a
 * third.
 */
export const MAX_ATTACHMENT_BYTES = 7 * 1024 * 1024;
/** Maximum time (ms) from now for which an email may be scheduled. */
export const MAX_SCHEDULE_AHEAD_MS = 366 * 86_400_000;
