/** Rooms of the server's messages, see web/sentences.ts. A code without an entry of its own has the room of its prefix. */
declare module 'messages:rooms' {
  export const byCode: Readonly<Record<string, string | undefined>>;
  export const byPrefix: Readonly<Record<string, string | undefined>>;
}
