/** IMAP: reading mailboxes and their Sent folder, over addresses that were checked. */
export { answered, imapError, ImapError, isHanging, MAX_MESSAGE_BYTES, openImap, type ImapTarget } from './connect.ts';
export { findFolder, findInSent, saveToSent, verifyImap } from './sent.ts';
