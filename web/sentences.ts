import type { Plugin } from 'vite';
import { parseSentence } from '../messages/parse.ts';

/** Files of sentences: of the server's rooms, and of areas of the dashboard. Those that list them are left out. */
const FILES = /\/messages\/[\w-]+\/(?:dashboard\/)?(?!index\.)[\w-]+\.ts$/;

/**
 * Parses the sentences of `messages/` when the dashboard is built, so that the browser loads no parser. What a file exports becomes parsed
 * sentences by their keys.
 * @throws Error that names the key of a sentence that is no ICU MessageFormat
 */
export function sentences(): Plugin {
  return {
    name: 'sentences',
    transform: {
      filter: { id: FILES },
      async handler(code) {
        // The files import nothing, and their types are gone by now: they can be run as they stand.
        const texts = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as Record<string, Texts>;
        const lines = Object.entries(texts).map(
          ([name, sentencesByKey]) => `export const ${name} = ${JSON.stringify(parseAll(sentencesByKey))};`,
        );
        return { code: lines.join('\n'), map: null };
      },
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
