import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isLiteralElement, isPluralElement, parse } from '@formatjs/icu-messageformat-parser';
import { printAST } from '@formatjs/icu-messageformat-parser/printer.js';
import type { BrowserContext } from 'playwright-core';
import { DASHBOARD } from '../../messages/dashboard.ts';
import { LANGUAGES, SENTENCES } from '../../messages/index.ts';
import { bundleDashboard } from '../../web/build.ts';

type Elements = ReturnType<typeof parse>;
type Texts = Readonly<Record<string, string>>;

/**
 * Tag of a pseudo-language: English with accents, each message in brackets. Text outside of brackets comes from no
 * language file.
 */
export const PSEUDO = 'qps';
const ACCENTS: Texts = {
  a: 'á',
  e: 'é',
  i: 'í',
  o: 'ó',
  u: 'ú',
  y: 'ý',
  A: 'Á',
  E: 'É',
  I: 'Í',
  O: 'Ó',
  U: 'Ú',
  c: 'ç',
  n: 'ñ',
};
/** One character of a word; tags and character references of HTML are kept whole. */
const WORD = /<[^<>]*>|&\w+;|[a-z]/gi;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Converts an English message to the pseudo-language. */
function toPseudo(sentence: string): string {
  const inside = printAST(withAccents(parse(sentence, { ignoreTag: true })));
  return `⟦${inside}⟧`;
}

function withAccents(elements: Elements): Elements {
  return elements.map((element) => {
    if (isLiteralElement(element))
      return { ...element, value: element.value.replaceAll(WORD, (part) => ACCENTS[part] ?? part) };
    if (!isPluralElement(element)) return element;
    const options = Object.entries(element.options).map(([name, { value }]) => [name, { value: withAccents(value) }]);
    return { ...element, options: Object.fromEntries(options) };
  });
}

const allToPseudo = (texts: Texts): Texts =>
  Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, toPseudo(text)]));

/** Removes every pseudo-language message from a text, including nested ones. */
export function outsideOfSentences(text: string): string {
  const without = text.replaceAll(/⟦[^⟦⟧]*⟧/g, ' ');
  return without === text ? text : outsideOfSentences(without);
}

/** Adds the pseudo-language to this process's languages until the returned function is called. */
export function installPseudo(): () => void {
  const languages = LANGUAGES as unknown as string[];
  const sentences = SENTENCES as unknown as Record<string, Texts>;
  languages.push(PSEUDO);
  sentences[PSEUDO] = allToPseudo(SENTENCES.en);
  return () => {
    languages.splice(languages.indexOf(PSEUDO), 1);
    delete sentences[PSEUDO];
  };
}

/**
 * Builds a dashboard with one more language, by the steps of messages/README.md: a folder of that language, and its
 * name in the list.
 * @returns the folder of the build
 */
export async function buildPseudoDashboard(): Promise<{ folder: string; remove(): Promise<void> }> {
  const copy = await mkdtemp(join(tmpdir(), 'heron-pseudo-'));
  const isSource = (path: string) => !/\/(?:node_modules|dist)(?:\/|$)/.test(path.slice(ROOT.length - 1));
  for (const part of ['web', 'client', 'messages', 'package.json', 'tsconfig.json'])
    await cp(join(ROOT, part), join(copy, part), { recursive: true, filter: isSource });
  for (const modules of ['node_modules', 'web/node_modules']) await symlink(join(ROOT, modules), join(copy, modules));
  const language = join(copy, 'messages', PSEUDO);
  await mkdir(join(language, 'dashboard'), { recursive: true });
  const write = (file: string, name: string, texts: Texts) =>
    writeFile(join(language, file), `export const ${name} = ${JSON.stringify(allToPseudo(texts))};\n`);
  for (const [area, texts] of Object.entries(DASHBOARD.en)) await write(`dashboard/${area}.ts`, area, texts);
  await write('server.ts', 'server', SENTENCES.en);
  await writeFile(join(language, 'index.ts'), `export { server as ${PSEUDO} } from './server.ts';\n`);
  const list = join(copy, 'messages/languages.ts');
  await writeFile(list, (await readFile(list, 'utf8')).replace(`'en', `, `'en', '${PSEUDO}', `));
  const folder = join(copy, 'dist');
  await bundleDashboard(join(copy, 'web'), folder);
  return { folder, remove: () => rm(copy, { recursive: true, force: true }) };
}

/** Serves a browser another dashboard build than the API's, with the same headers. */
export async function serveBuild(context: BrowserContext, folder: string): Promise<void> {
  const page = await readFile(join(folder, 'index.html'), 'utf8');
  const contentOf = (html: string, name: string) =>
    new RegExp(`name="${name}" content="([^"]*)"`).exec(html)?.[1] ?? '';
  await context.route('**/*', async (route) => {
    const request = route.request();
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/assets/')) return route.fulfill({ path: join(folder, pathname) });
    if (request.resourceType() !== 'document') return route.fallback();
    const response = await route.fetch();
    const served = await response.text();
    const body = page
      .replaceAll('%NONCE%', contentOf(served, 'heron-nonce'))
      .replaceAll('%REALTIME%', contentOf(served, 'heron-realtime'));
    return route.fulfill({ response, body });
  });
}
