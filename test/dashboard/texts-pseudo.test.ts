import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { browserTests, findChromium } from '../harness/browser.ts';
import { settle } from '../harness/dashboard.ts';
import { createVisitorCookie } from '../harness/factories.ts';
import { installPseudo, outsideOfSentences, PSEUDO, servePseudo } from '../harness/pseudo-language.ts';
import { call } from '../harness/world.ts';
import { createSceneWorld } from '../screenshots/catalogue.ts';
import { furnish, type Scene } from '../screenshots/scene.ts';
import { HOSTILE, type SceneWorld } from '../screenshots/stage.ts';

const browserTest = browserTests(test);
/** Number of visitors per workspace that go through the pages concurrently, because a visit mostly waits. */
const LANES = 2;
let world: SceneWorld;
let scene: Scene;
let pseudo: Awaited<ReturnType<typeof servePseudo>>;
let uninstall: () => void;
test.before(async () => {
  if (!findChromium()) return;
  pseudo = await servePseudo(() => world);
  world = await createSceneWorld({ API_PUBLIC_URL: pseudo.url, APP_URL: pseudo.url });
  scene = await furnish(world);
  uninstall = installPseudo();
});
test.after.always(async () => {
  uninstall?.();
  await world?.close();
  await pseudo?.close();
});

/**
 * Script that returns the visible text of the page and of its attributes. Times are formatted by the browser, and code
 * is skipped.
 */
const READ = `(() => {
  const unseen = 'noscript, script, style, time, code, pre, kbd, iframe, .cm-content, [aria-hidden="true"], .mantine-Avatar-root';
  const isCode = (element) => getComputedStyle(element).fontFamily.includes('mono');
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!parent.closest(unseen) && parent.checkVisibility({ visibilityProperty: true }) && !isCode(parent)) {
      // Underlined words are parts of a text.
      const whole = parent.localName === 'u' ? parent.parentElement : parent;
      found.push(whole.querySelector(':scope > u') ? whole.textContent : node.data);
    }
  }
  for (const name of ['aria-label', 'title', 'placeholder', 'alt'])
    for (const element of document.querySelectorAll('[' + name + ']'))
      if (!element.closest(unseen)) found.push(element.getAttribute(name));
  return [...found, document.title];
})()`;

/** Normalizes a text to one line, as browsers show it. */
const onOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** Returns every text in the API's answer except codes such as `failed`, which messages translate. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return /^[a-z]{0,30}$/.test(value) || value.length < 2 ? [] : [onOneLine(value)];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/**
 * Names that are equal in every language: programs, formats, protocols, and names defined by programs, such as
 * `order.paid`.
 */
const ALIKE = /\b(?:Heron|CSV|PNG|UTC|API|SMTP|IMAP|SPF|DKIM|DMARC)\b|\b[a-z]+(?:[._][a-z]+)+\b|https?:\S+/g;
/** Days, months, hours and sizes in the browser's format. */
const WRITTEN =
  /\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)(?:s|nes|rs|ur)?(?:day)?|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)(?:[a-z]+)?|AM|PM|GMT|seconds?|minutes?|MB)\b/g;

/** Matches the names of those answer fields that hold sentences. */
const SPOKEN = /(?:^|_)(?:reason|message|fix|detail|error|remediation)$/;

/** Fields that only people and other systems write. */
const WRITTEN_BY_PEOPLE = new Set(['lost_reason', 'canceled_reason']);

/**
 * Returns sentences in an answer that are in no language file. The code `words` marks sentences written by people and
 * servers.
 */
function foreignSentences(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const fields = value as Record<string, unknown>;
  return Object.entries(fields).flatMap(([name, part]) => {
    if (typeof part !== 'string') return foreignSentences(part);
    const isSentence = SPOKEN.test(name) && part.includes(' ') && part !== HOSTILE;
    const isQuoted = (fields[`${name}_code`] ?? fields.code) === 'words' || WRITTEN_BY_PEOPLE.has(name);
    return isSentence && !isQuoted && /[a-z]{2}/i.test(outsideOfSentences(part).replaceAll(ALIKE, ' '))
      ? [`${name}: ${part}`]
      : [];
  });
}

/** Values of the test data that are written in lower case, as codes are. */
const OF_THE_SCENE = ['pro', 'free', 'trial', 'starter', 'test', 'surplus', 'cells', 'no', 'health', 'energy'];

/** Returns words of a page that come neither from a message nor from the displayed data. */
function foreignWords(shown: readonly string[], data: readonly string[]): string[] {
  return shown.filter((text) => {
    let left = onOneLine(outsideOfSentences(text));
    // The text may be a part of a longer one, such as an email without its quote.
    if (left.length > 20 && data.some((known) => known.includes(left))) return false;
    for (const known of data)
      left = left.replaceAll(
        known.length < 4 ? new RegExp(`\\b${known.replaceAll(/\W/g, '\\$&')}\\b`, 'g') : known,
        ' ',
      );
    return /[a-z]{2}/i.test(left.replaceAll(ALIKE, ' ').replaceAll(WRITTEN, ' '));
  });
}

browserTest('in a further language no page has words that are not of its folder', async (t) => {
  t.timeout(600_000);
  await pseudo.build();
  const visits = (
    [
      [scene.tenant, undefined],
      [scene.empty, 'empty'],
    ] as const
  ).flatMap(([tenant, of]) => {
    // Pages with an action are skipped, because the actions find elements by their English text.
    const pages = scene.pages.filter(([, , who, act]) => who === of && !act);
    return Array.from({ length: LANES }, (_, lane) => ({
      tenant,
      pages: pages.filter((_page, at) => at % LANES === lane),
    }));
  });
  const answers: Promise<unknown>[] = [];
  const seen = await Promise.all(
    visits.map(async ({ tenant, pages }) => {
      const { page, context } = await world.chrome.visit({ reducedMotion: 'reduce' });
      t.teardown(() => context.close());
      const [name, value] = (await createVisitorCookie(world.deps, tenant.userId)).split('=') as [string, string];
      await context.addCookies([{ name, value, url: pseudo.url }]);
      await context.addInitScript(`localStorage.setItem('heron-preferences', '{"language":"${PSEUDO}"}')`);
      page.on('response', (response) => {
        if (response.headers()['content-type']?.startsWith('application/json'))
          answers.push(response.json().catch(() => undefined));
      });
      const shown: [title: string, texts: string[]][] = [];
      for (const [title, path] of pages) {
        await page.goto(pseudo.url + path);
        await settle(page);
        shown.push([title, (await page.evaluate(READ)) as string[]]);
      }
      return shown;
    }),
  );
  const bodies = await Promise.all(answers);
  t.deepEqual([...new Set(foreignSentences(bodies))], []);
  const data = [...new Set([...OF_THE_SCENE, ...textsIn(bodies)])].toSorted((a, b) => b.length - a.length);
  const judged = new Set<string>();
  const found = seen.flat().flatMap(([title, texts]) => {
    const fresh = [...new Set(texts)].filter((text) => !judged.has(text));
    for (const text of fresh) judged.add(text);
    return foreignWords(fresh, data).map((text) => `${title}: ${text.slice(0, 200)}`);
  });
  t.deepEqual(found, []);
});

/** A name that occurs only in ICU parsers. */
const OF_PARSERS = 'EXPECT_ARGUMENT_CLOSING_BRACE';

browserTest('the browser is sent no parser of sentences', async (t) => {
  const parser = createRequire(import.meta.url).resolve('@formatjs/icu-messageformat-parser');
  t.true((await readFile(parser, 'utf8')).includes(OF_PARSERS));
  const assets = fileURLToPath(new URL('../../web/dist/assets', import.meta.url));
  const scripts = (await readdir(assets)).filter((name) => name.endsWith('.js'));
  t.true(scripts.length > 50);
  for (const name of scripts) t.false((await readFile(join(assets, name), 'utf8')).includes(OF_PARSERS), name);
});

const REFUSED: readonly [method: string, path: string, body?: unknown][] = [
  ['GET', '/v1/campaigns/none'],
  ['GET', '/v1/nowhere'],
  ['GET', '/v1/campaigns?limit=much&colour=red'],
  ['POST', '/v1/campaigns', { name: 7, steps: 'none', colour: 'red' }],
  ['POST', '/v1/contacts', [{ email: 'nobody' }]],
  ['POST', '/v1/webhooks', { url: 'nowhere' }],
];

for (const [method, path, body] of REFUSED) {
  browserTest(`in a further language the answer to ${method} ${path} is in it`, async (t) => {
    const { sessionToken: token } = scene.tenant;
    const answer = await call(world, method, path, { token, body, headers: { 'accept-language': PSEUDO } });
    t.true(answer.status >= 400, answer.text);
    const {
      message,
      fix,
      problems = [],
    } = answer.body as {
      message: string;
      fix?: string;
      problems?: { message: string }[];
    };
    const said = [message, ...(fix ? [fix] : []), ...problems.map((problem) => problem.message)];
    t.deepEqual(
      said.filter((words) => /[a-z]{2}/i.test(outsideOfSentences(words))),
      [],
    );
  });
}

/** Pages without scripts, for signed-in people and others. */
const PAGES: readonly [path: string, isSignedIn: boolean][] = [
  ['/account/sign-in', false],
  ['/account/forgotten-password', false],
  ['/reset-password/none', false],
  ['/setup/none', false],
  ['/invitations/none', false],
  ['/oauth/authorize', false],
  ['/oauth/authorize', true],
  ['/account/apps', true],
  ['/approvals/none', true],
];

for (const [path, isSignedIn] of PAGES) {
  browserTest(`in a further language the page ${path} is in it, ${isSignedIn ? '' : 'not '}signed in`, async (t) => {
    const cookie = await createVisitorCookie(world.deps, scene.tenant.userId);
    const headers = { 'accept-language': PSEUDO, accept: 'text/html', ...(isSignedIn ? { cookie } : {}) };
    const { text } = await call(world, 'GET', path, { headers });
    t.regex(text, new RegExp(`<html lang="${PSEUDO}">`));
    const attributes = [...text.matchAll(/ (?:placeholder|title|aria-label|alt)="([^"]*)"/g)].map(
      ([, words]) => words!,
    );
    const shown = text
      .replaceAll(/<(style|script|pre|code)\b.*?<\/\1>/gs, ' ')
      .split(/<\/?(?:title|p|h\d|li|div|label|button|td|th)\b[^>]*>/);
    const words = [...shown, ...attributes].map((part) => onOneLine(part.replaceAll(/<[^>]*>/g, '')));
    t.true(words.some((part) => part.includes('⟦')));
    t.deepEqual(
      words.filter((part) => /[a-z]{2}/i.test(outsideOfSentences(part).replaceAll(ALIKE, ' '))),
      [],
    );
  });
}
