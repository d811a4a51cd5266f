import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Plugin } from 'vite';
import { parseSentence } from '../messages/parse.ts';

/** Message files of the server and of the dashboard's areas, without index files. */
const FILES = /\/messages\/[\w-]+\/(?:dashboard\/)?(?!index\.)[\w-]+\.ts$/;
/** Module that maps codes of the server's messages to the files that contain them. */
const ROOMS = 'messages:rooms';

/**
 * Vite plugin that parses the messages of `messages/` at build time, so that the browser loads no parser. The exports
 * of a file become parsed messages by key. The module `messages:rooms` maps message codes to files.
 * @throws Error that names the key of a message that is not valid ICU MessageFormat
 */
export function sentences(): Plugin {
  let root: string;
  return {
    name: 'sentences',
    configResolved(config) {
      root = config.root;
    },
    resolveId: (id) => (id === ROOMS ? `\0${id}` : undefined),
    load: async (id) => (id === `\0${ROOMS}` ? roomsOfCodes(join(root, '../messages/en')) : undefined),
    transform: {
      filter: { id: FILES },
      async handler(code) {
        const lines = Object.entries(await evaluate(code)).map(
          ([name, sentencesByKey]) => `export const ${name} = ${JSON.stringify(parseAll(sentencesByKey))};`,
        );
        return { code: lines.join('\n'), map: null };
      },
    },
  };
}

type Texts = Readonly<Record<string, string>>;

/** Evaluates the code of a message file, from which types were removed. The files have no imports. */
async function evaluate(code: string): Promise<Record<string, Texts>> {
  return (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as Record<string, Texts>;
}

/**
 * Returns a module that maps each prefix of codes to its message file. It also maps each code that is in another file
 * than its prefix.
 */
async function roomsOfCodes(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.ts') && name !== 'index.ts');
  const rooms = new Map<string, string>();
  for (const name of names) {
    const source = (await readFile(join(folder, name), 'utf8')).replaceAll(' as const;', ';');
    for (const code of Object.values(await evaluate(source)).flatMap((texts) => Object.keys(texts)))
      rooms.set(code, basename(name, '.ts'));
  }
  const prefixOf = (code: string) => code.split('.', 1)[0]!;
  const counts = new Map<string, number>();
  for (const [code, room] of rooms) {
    const name = `${prefixOf(code)} ${room}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  // The last file of a prefix is kept, which contains most of its codes.
  const byPrefix = Object.fromEntries(
    [...counts].toSorted(([, some], [, more]) => some - more).map(([name]) => name.split(' ')),
  );
  const byCode = Object.fromEntries([...rooms].filter(([code, room]) => byPrefix[prefixOf(code)] !== room));
  return `export const byCode = ${JSON.stringify(byCode)}; export const byPrefix = ${JSON.stringify(byPrefix)};`;
}

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
