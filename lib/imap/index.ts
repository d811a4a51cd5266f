/** IMAP: reads mailboxes and their Sent folder, over checked addresses. */
export { withSilenceLimit, imapError, ImapError, isUnanswered, openImap, type ImapTarget } from './connect.ts';
export { findFolder, findInSent, saveToSent, verifyImap } from './sent.ts';
export { fetchMessage, firstUidSince, openFolder, uidsAfter, type FetchedMessage, type ImapLack } from './reading.ts';
