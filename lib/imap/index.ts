/** IMAP: reading mailboxes and their Sent folder, over addresses that were checked. */
export {
  answered,
  imapError,
  ImapError,
  isHanging,
  MAX_MESSAGE_BYTES,
  openImap,
  type ImapErrorKind,
  type ImapOptions,
  type ImapStage,
  type ImapTarget,
} from './connect.ts';
export { appendToSent, findByMessageId, findFolder, findInSent, saveToSent, verifyImap } from './sent.ts';
