import type { Page } from 'playwright-core';

/** Tab is pressed so often at most on one page. */
const MOST_STOPS = 400;
/** How long (ms) a dialog or menu may take to be there, and to be gone again. */
const OPENING_MS = 15_000;

/**
 * What is there for the helper functions below, put into the page: everything interactive in the main part and what of it has had the
 * focus. Evaluated by the debugger, which the page's policy does not bind.
 */
const WATCH = `window.keyboard = (() => {
  const INTERACTIVE = 'a[href],button,input:not([type=hidden]),select,textarea,summary,[contenteditable=true],[role=button],[role=link],[role=tab],[role=checkbox],[role=switch],[role=combobox],[role=textbox]';
  const main = document.getElementById('main');
  const isShown = (one) => one.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true }) && !one.closest('[inert],[aria-hidden=true]');
  const isUsable = (one) => !one.matches(':disabled,[aria-disabled=true],[data-disabled=true]') && isShown(one);
  const around = (one) => [one, one.parentElement, one.parentElement.parentElement, one.nextElementSibling, one.previousElementSibling].filter(Boolean);
  const lookOf = (one) => around(one).map((part) => {
    const style = getComputedStyle(part);
    return [style.outlineStyle === 'none' ? '' : style.outlineStyle + style.outlineColor + style.outlineWidth, style.boxShadow].join();
  }).join('|');
  const nameOf = (one) => [
    one.getAttribute('aria-label'),
    ...(one.getAttribute('aria-labelledby') ?? '').split(' ').map((id) => document.getElementById(id)?.textContent),
    ...[...(one.labels ?? [])].map((label) => label.textContent),
    one.matches('input,textarea,select,[contenteditable=true]') ? '' : one.textContent,
    one.querySelector('img[alt]')?.alt, one.title, one.placeholder,
  ].map((part) => (part ?? '').trim()).find((part) => part !== '') ?? '';
  const said = (one) => one.tagName.toLowerCase() + ' "' + nameOf(one).slice(0, 60) + '" ' + (one.getAttribute('role') ?? one.getAttribute('type') ?? '') + ' ' + String(one.className).slice(0, 60);
  const reached = new Set();
  // One of a group is reached by Tab, the others by arrow keys.
  const groupOf = (one) => one.matches('[role=tab]') ? one.closest('[role=tablist]') : one.matches('[type=radio]') ? one.closest('[role=radiogroup],fieldset,form,main') : null;
  const candidates = () => [...main.querySelectorAll(INTERACTIVE)].filter((one) => isUsable(one) && !one.parentElement.closest('a[href],button'));
  const looks = new Map(candidates().map((one) => [one, lookOf(one)]));
  // What answers to a click and is nothing that can have the focus, nor in or around such a thing.
  const clickable = () => [...main.querySelectorAll('*')].filter((one) => {
    const props = one[Object.keys(one).find((key) => key.startsWith('__reactProps$'))];
    const opens = props?.onClick && getComputedStyle(one).cursor === 'pointer' && isShown(one);
    return opens && !one.matches(INTERACTIVE + ',label') && !one.closest(INTERACTIVE + ',label,[tabindex="0"]') && !one.querySelector(INTERACTIVE);
  });
  return {
    /** Notes what has the focus now; the answer is what is wrong with it, or that the walk is over. */
    look() {
      const one = document.activeElement;
      if (!main.contains(one) || one === main || reached.has(one)) return 'end';
      reached.add(one);
      const before = looks.get(one);
      const faults = [];
      if (before !== undefined && before === lookOf(one)) faults.push('no visible focus: ' + said(one));
      if (nameOf(one) === '' && one.matches(INTERACTIVE)) faults.push('no name: ' + said(one));
      return faults;
    },
    missed() {
      const groups = new Set([...reached].map(groupOf).filter(Boolean));
      return [
        ...candidates().filter((one) => !reached.has(one) && !groups.has(groupOf(one)) && !(one.tabIndex === -1 && one.dataset.pointerOnly !== undefined)).map((one) => 'not reached: ' + said(one)),
        ...clickable().map((one) => 'only for a pointer: ' + said(one)),
      ];
    },
    /** The names of what opens a dialog or menu, each once. */
    openers() {
      const all = candidates().filter((one) => one.matches('[aria-haspopup=dialog],[aria-haspopup=menu]'));
      return [...new Map(all.map((one) => [nameOf(one).replace(/ .*/, ''), one])).values()].map((one, at) => {
        one.dataset.opener = String(at);
        return { at: String(at), kind: one.getAttribute('aria-haspopup'), name: nameOf(one) };
      });
    },
  };
})()`;

interface Opener {
  at: string;
  kind: 'dialog' | 'menu';
  name: string;
}

/**
 * Walks the main part of a page by Tab, from its beginning: what is interactive there and is not reached, has no name, or does not show that
 * it has the focus; what only a pointer can use; dialogs and menus that do not open by Enter, take the focus, close by Escape and give the
 * focus back.
 */
export async function walkByKeyboard(page: Page): Promise<string[]> {
  await page.evaluate(WATCH);
  await page.locator('#main').focus();
  const found: string[] = [];
  for (let stops = 0; stops < MOST_STOPS; stops += 1) {
    await page.keyboard.press('Tab');
    const faults = (await page.evaluate('keyboard.look()')) as 'end' | string[];
    if (faults === 'end') break;
    found.push(...faults);
  }
  found.push(...((await page.evaluate('keyboard.missed()')) as string[]));
  for (const opener of (await page.evaluate('keyboard.openers()')) as Opener[])
    found.push(...(await openAndClose(page, opener)).map((fault) => `${fault}: ${opener.kind} of "${opener.name}"`));
  return found;
}

async function openAndClose(page: Page, { at, kind }: Opener): Promise<string[]> {
  const opener = page.locator(`[data-opener="${at}"]`);
  const opened = page.getByRole(kind);
  const isAt = (script: string) =>
    page.waitForFunction(script, undefined, { timeout: OPENING_MS }).then(
      () => true,
      () => false,
    );
  const wait = (state: 'visible' | 'hidden') =>
    opened
      .first()
      .waitFor({ state, timeout: OPENING_MS })
      .then(
        () => true,
        () => false,
      );
  await opener.focus();
  await page.keyboard.press('Enter');
  if (!(await wait('visible'))) return ['does not open by Enter'];
  const faults: string[] = [];
  if (kind === 'menu') await page.keyboard.press('ArrowDown');
  if (!(await isAt(`document.activeElement.closest('[role=${kind}]') !== null`)))
    faults.push('does not take the focus');
  await page.keyboard.press('Escape');
  if (!(await wait('hidden'))) return [...faults, 'does not close by Escape'];
  if (!(await isAt(`document.activeElement.dataset.opener === '${at}'`))) faults.push('does not give the focus back');
  return faults;
}
