/**
 * Maps message codes of the server to the files in `messages/` that contain them (web/sentences.ts). A code without an
 * entry is in the file of its prefix.
 */
declare module 'messages:rooms' {
  export const byCode: Readonly<Record<string, string | undefined>>;
  export const byPrefix: Readonly<Record<string, string | undefined>>;
}
