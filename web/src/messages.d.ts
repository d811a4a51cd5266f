/**
 * Names of the files in `messages/` that contain the server's messages, by message code (web/sentences.ts). A code
 * without an entry uses the file of its prefix.
 */
declare module 'messages:rooms' {
  export const byCode: Readonly<Record<string, string | undefined>>;
  export const byPrefix: Readonly<Record<string, string | undefined>>;
}
