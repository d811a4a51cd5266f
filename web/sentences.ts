import type { Plugin } from 'vite';
import { parseSentence } from '../messages/parse.ts';

/** Message files of the server and of the dashboard's areas, without index files. */
const FILES = /\/messages\/[\w-]+\/(?:dashboard\/)?(?!index\.)[\w-]+\.ts$/;

/**
 * Vite plugin that parses the messages of `messages/` at build time, so that the browser loads no parser. The exports
 * of a file become parsed messages by key.
 * @throws Error that names the key of a message that is not valid ICU MessageFormat
 */
export function sentences(): Plugin {
  return {
    name: 'sentences',
    transform: {
      filter: { id: FILES },
      async handler(code) {
        // The files have no imports, and their types are already erased, so they can be evaluated directly.
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
