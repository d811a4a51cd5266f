import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isLiteralElement, isPluralElement, parse } from '@formatjs/icu-messageformat-parser';
import { printAST } from '@formatjs/icu-messageformat-parser/printer.js';
import Koa from 'koa';
import { dashboardFallback, dashboardFiles } from '../../api/pages/dashboard.ts';
import { listenHttp, type Listening } from '../../lib/listen.ts';
import { DASHBOARD } from '../../messages/dashboard.ts';
import { LANGUAGES, SENTENCES } from '../../messages/index.ts';
import { bundleDashboard } from '../../web/build.ts';
import type { World } from './world.ts';

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
/** Matches one character of a word, or a whole tag or character reference of HTML. */
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
 * Serves a world's API with a dashboard in an additional language. `build` must first build the dashboard. A separate
 * server is used because interception by the debugger would disable the browser's cache of scripts.
 * @param world read with each request; its settings name this address
 */
export async function servePseudo(world: () => World): Promise<Listening & { build(): Promise<void> }> {
  let built: Awaited<ReturnType<typeof buildPseudoDashboard>> | undefined;
  const app = new Koa();
  app.use((koa, next) => dashboardFiles(built!.folder)(koa, next));
  app.use((koa, next) => dashboardFallback(world().deps.config, built!.folder)(koa, next));
  app.use(async (koa) => {
    const { req, url, method, headers } = koa;
    const passed = request(world().url + url, { method, headers });
    req.pipe(passed);
    const [answer] = (await once(passed, 'response')) as [IncomingMessage];
    koa.status = answer.statusCode!;
    koa.set(answer.headers as Record<string, string | string[]>);
    koa.body = answer;
  });
  const server = await listenHttp(app.callback(), '127.0.0.1', 0);
  return {
    ...server,
    async build() {
      built = await buildPseudoDashboard();
    },
    async close() {
      await server.close();
      await built?.remove();
    },
  };
}

/**
 * Builds a dashboard with an additional language, by the steps of messages/README.md: a folder of that language, and
 * its name in the list.
 * @returns the folder of the build
 */
async function buildPseudoDashboard(): Promise<{ folder: string; remove(): Promise<void> }> {
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
  const english = join(copy, 'messages', 'en');
  for (const file of (await readdir(english)).filter((name) => name.endsWith('.ts') && name !== 'index.ts')) {
    const source = await readFile(join(english, file), 'utf8');
    const codes = [...source.matchAll(/^ {2}'?([\w.]+)'?:/gm)].map(([, code]) => code!);
    const texts = Object.fromEntries(codes.map((code) => [code, (SENTENCES.en as Texts)[code]!]));
    await write(file, 'room', texts);
  }
  await writeFile(join(language, 'index.ts'), `export const ${PSEUDO} = {};\n`);
  const list = join(copy, 'messages/languages.ts');
  await writeFile(list, (await readFile(list, 'utf8')).replace(`'en', `, `'en', '${PSEUDO}', `));
  const folder = join(copy, 'dist');
  await bundleDashboard(join(copy, 'web'), folder);
  return { folder, remove: () => rm(copy, { recursive: true, force: true }) };
}
