import type { ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { call, type World } from './world.ts';

/** Response that contains an HTML page. */
interface Shown {
  text: string;
  headers: Headers;
}

/**
 * Returns the visible text of a page, and its attributes that are shown or read aloud. Commands and keys do not count.
 */
function wordsOf(page: string): Set<string> {
  const shown = page.replaceAll(/<(style|pre|code)>.*?<\/\1>/gs, '');
  const attributes = [...shown.matchAll(/ (?:placeholder|title|aria-label)="([^"]*)"/g)].map(([, words]) => words!);
  const words = [...shown.split(/<[^>]*>/), ...attributes].map((text) => text.trim());
  return new Set(words.filter((text) => /[a-z]{2}/i.test(text)));
}

/**
 * Reads a page as an English and as a German browser. Each response must declare its language and vary by it, both must
 * have the same content security policy, and the German page must contain no English text.
 * @param alike words that are the same in both, such as names
 */
export async function assertBothLanguages(
  t: ExecutionContext,
  read: (acceptLanguage: string) => Promise<Shown>,
  alike: readonly string[] = [],
): Promise<void> {
  const english = await read('en-GB,en;q=0.9,de;q=0.3');
  const german = await read('fr;q=0.4,de-AT;q=0.8');
  t.regex(english.text, /<html lang="en">/);
  t.regex(german.text, /<html lang="de">/);
  for (const { headers } of [english, german]) t.regex(headers.get('vary') ?? '', /\baccept-language\b/i);
  t.is(german.headers.get('content-security-policy'), english.headers.get('content-security-policy'));
  const known = wordsOf(english.text);
  const left = [...wordsOf(german.text)].filter((words) => known.has(words));
  t.deepEqual(
    left.filter((words) => words !== 'Heron' && !alike.includes(words)),
    [],
  );
  t.true(wordsOf(german.text).size > 1);
}

/** Runs {@link assertBothLanguages} on a page of a signed-in person, in a browser. */
export async function assertBothLanguagesIn(
  t: ExecutionContext,
  world: World,
  page: Page,
  alike: readonly string[],
): Promise<void> {
  const { pathname, search } = new URL(page.url());
  const cookies = await page.context().cookies();
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  await assertBothLanguages(
    t,
    (language) => call(world, 'GET', pathname + search, { headers: { cookie, 'accept-language': language } }),
    alike,
  );
}
