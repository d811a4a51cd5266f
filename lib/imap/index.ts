/** IMAP: reads mailboxes and their Sent folder, over checked addresses. */
export {
  withSilenceLimit,
  imapError,
  ImapError,
  isUnanswered,
  MAX_MESSAGE_BYTES,
  openImap,
  type ImapTarget,
} from './connect.ts';
export { findFolder, findInSent, saveToSent, verifyImap } from './sent.ts';
