import { byCode, byPrefix } from 'messages:rooms';
import type { ParsedSentence } from '../../../messages/format.ts';
import type { Language } from '../../../messages/languages.ts';

type Sentences = Readonly<Record<string, ParsedSentence>>;

const files = import.meta.glob<Record<string, Sentences>>([
  '../../../messages/*/*.ts',
  '!../../../messages/*/index.ts',
]);

/** Loads the message files that contain these codes, in one language. */
export async function loadRooms(codes: Iterable<string>, language: Language): Promise<Sentences> {
  const rooms = new Set([...codes].map((code) => byCode[code] ?? byPrefix[code.split('.', 1)[0]!]));
  const loaded = await Promise.all(
    [...rooms].map(async (room) => files[`../../../messages/${language}/${room}.ts`]?.()),
  );
  return Object.assign({}, ...loaded.flatMap((file) => Object.values(file ?? {})));
}
