import { join } from 'node:path';
import type { Plugin } from 'vite';
import { parseSentence } from '../messages/parse.ts';

const FOLDER = join(import.meta.dirname, '../messages/').replaceAll('\\', '/');
/** A file of sentences below that folder: of the server's rooms, or of an area of the dashboard. */
const FILE = /^[\w-]+\/(?:dashboard\/)?[\w-]+\.ts$/;

/**
 * Parses the sentences of `messages/` when the dashboard is built, so that the browser loads no parser. What a file exports becomes parsed
 * sentences by their keys.
 * @throws Error that names the key of a sentence that is no ICU MessageFormat
 */
export function sentences(): Plugin {
  return {
    name: 'sentences',
    async transform(code, id) {
      const file = id.startsWith(FOLDER) ? id.slice(FOLDER.length) : '';
      if (!FILE.test(file) || file.endsWith('/index.ts')) return undefined;
      // The files import nothing, and their types are gone by now: they can be run as they stand.
      const texts = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as Record<string, Texts>;
      const lines = Object.entries(texts).map(
        ([name, sentencesByKey]) => `export const ${name} = ${JSON.stringify(parseAll(sentencesByKey))};`,
      );
      return { code: lines.join('\n'), map: null };
    },
  };
}

type Texts = Readonly<Record<string, string>>;

function parseAll(texts: Texts): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(texts).map(([key, text]) => {
      try {
        return [key, parseSentence(text)];
      } catch (error) {
        throw new Error(`${key} is no ICU MessageFormat: ${text}`, { cause: error });
      }
    }),
  );
}
