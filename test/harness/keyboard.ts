import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';

/** Maximum number of Tab presses in one part of a page. */
const MOST_STOPS = 400;
/** Timeout (ms) for a dialog or menu to open or close. */
const OPENING_MS = 15_000;
const DIALOG = '[role=dialog]';

/**
 * Function for the page: watches one part of it (`root`) during Tab navigation. Elements hidden from assistive
 * technology are skipped, because they only duplicate a key of their field (arrows of a number field, cross of a tag).
 * Evaluated by the debugger, which the page's policy does not restrict.
 */
const WATCH = `(root) => {
  const INTERACTIVE = 'a[href],button,input:not([type=hidden]),select,textarea,summary,[contenteditable=true],[role=button],[role=link],[role=tab],[role=checkbox],[role=switch],[role=combobox],[role=textbox]';
  // What shows the focus has at least this contrast to what it stands on (WCAG 2.2, 1.4.11).
  const LEAST_CONTRAST = 3;
  const isShown = (one) => one.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true }) && !one.closest('[inert],[aria-hidden=true]');
  const isUsable = (one) => !one.matches(':disabled,[aria-disabled=true],[data-disabled=true]') && isShown(one);
  const usable = () => [...root.querySelectorAll(INTERACTIVE)].filter((one) => isUsable(one) && !one.parentElement.closest('a[href],button'));
  const nameOf = (one) => [
    one.getAttribute('aria-label'),
    ...(one.getAttribute('aria-labelledby') ?? '').split(' ').map((id) => document.getElementById(id)?.textContent),
    ...[...(one.labels ?? [])].map((label) => label.textContent),
    one.matches('input,textarea,select,[contenteditable=true]') ? '' : one.textContent,
    one.querySelector('img[alt]')?.alt, one.title, one.placeholder,
  ].map((part) => (part ?? '').trim()).find((part) => part !== '') ?? '';
  const said = (one) => one.tagName.toLowerCase() + ' "' + nameOf(one).slice(0, 60) + '" ' + (one.getAttribute('role') ?? one.getAttribute('type') ?? '') + ' ' + String(one.className).slice(0, 80);

  // Colours: red, green, blue and opacity, from 0 to 1 each.
  const parse = (colour) => {
    const [red, green, blue, opacity = 1] = colour.slice(colour.indexOf('(')).match(/[\\d.]+/g).map(Number);
    const whole = colour.startsWith('rgb') ? 255 : 1;
    return [red / whole, green / whole, blue / whole, opacity];
  };
  const over = ([red, green, blue, opacity], below) => [red, green, blue].map((part, at) => part * opacity + below[at] * (1 - opacity));
  const backdrops = new Map();
  const backdropOf = (one) => {
    if (!one) return [1, 1, 1];
    if (!backdrops.has(one)) backdrops.set(one, over(parse(getComputedStyle(one).backgroundColor), backdropOf(one.parentElement)));
    return backdrops.get(one);
  };
  const lightOf = (colour) => {
    const [red, green, blue] = colour.map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const isClear = (colour, on) => {
    const below = backdropOf(on);
    const [dark, light] = [lightOf(over(parse(colour), below)), lightOf(below)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05) >= LEAST_CONTRAST;
  };

  // A look: every outline, border and shadow on or around a thing that is clear to see. Some are drawn by a label or a frame around.
  const around = (one) => {
    const parts = [one, one.nextElementSibling, one.previousElementSibling];
    for (let part = one.parentElement; part && part !== root && parts.length < 7; part = part.parentElement) parts.push(part);
    return parts;
  };
  const lookOf = (one) => around(one).flatMap((part, at) => {
    if (!part) return [];
    const style = getComputedStyle(part);
    const outside = part.parentElement ?? part;
    const marks = [];
    if (style.outlineStyle === 'auto') marks.push('auto');
    else if (style.outlineStyle !== 'none' && isClear(style.outlineColor, parseFloat(style.outlineOffset) < 0 ? part : outside))
      marks.push('outline ' + style.outlineColor + style.outlineWidth);
    for (const side of ['Top', 'Bottom'])
      if (style['border' + side + 'Style'] !== 'none' && isClear(style['border' + side + 'Color'], part)) marks.push(side + style['border' + side + 'Color'] + style['border' + side + 'Width']);
    const shadow = /(rgb|color)a?\\([^)]*\\)/.exec(style.boxShadow);
    if (shadow && isClear(shadow[0], outside)) marks.push(style.boxShadow);
    return marks.map((mark) => at + mark);
  });
  const looks = new Map();
  const noteLooks = () => {
    for (const one of [...usable(), ...root.querySelectorAll('[tabindex="0"]')])
      if (!looks.has(one) && one !== document.activeElement) looks.set(one, lookOf(one));
  };
  /** Whether all of it lies below something else, or out of sight. What is drawn by its label has no place of its own. */
  // Only the part in view counts for an element taller than the window.
  const isCovered = (one) => {
    const box = one.getBoundingClientRect();
    if (box.width < 4 || box.height < 4) return false;
    const [left, top] = [Math.max(box.left, 0), Math.max(box.top, 0)];
    const [width, height] = [Math.min(box.right, innerWidth) - left, Math.min(box.bottom, innerHeight) - top];
    return [[0.5, 0.5], [0.1, 0.1], [0.9, 0.1], [0.1, 0.9], [0.9, 0.9]].every(([x, y]) => {
      const hit = document.elementFromPoint(left + width * x, top + height * y);
      return !hit || !(one.contains(hit) || hit.contains(one) || one.parentElement.contains(hit));
    });
  };
  // Colours that are still changing are none.
  const finish = () => {
    for (const one of document.getAnimations()) if (one instanceof CSSTransition) one.finish();
    backdrops.clear();
  };
  // One of a group is reached by Tab, the others by arrow keys.
  const groupOf = (one) => one.matches('[role=tab]') ? one.closest('[role=tablist]') : one.matches('[type=radio]') ? one.closest('[role=radiogroup],fieldset,form,main,[role=dialog]') : null;
  // What answers to a click and is nothing that can have the focus, nor in or around such a thing. Options are chosen by arrow keys.
  const clickable = () => [...root.querySelectorAll('*')].filter((one) => {
    const props = one[Object.keys(one).find((key) => key.startsWith('__reactProps$'))];
    return props?.onClick && getComputedStyle(one).cursor === 'pointer' && isShown(one)
      && !one.matches(INTERACTIVE + ',label') && !one.closest(INTERACTIVE + ',label,[role=option],[tabindex="0"]') && !one.querySelector(INTERACTIVE);
  });

  // Rows of a long list leave the page and come back as other elements: what is in them is known by its place.
  const idOf = (one) => {
    const row = one.closest('tr[aria-rowindex]');
    return row ? row.ariaRowIndex + '/' + [...row.querySelectorAll(INTERACTIVE)].indexOf(one) : one;
  };
  const reached = new Set();
  const groups = new Set();
  let last;
  const had = document.activeElement;
  const atFirst = new Set(usable());
  let isChanged = false;
  new MutationObserver(() => { isChanged = true; }).observe(root, { childList: true, subtree: true });
  had.blur();
  finish();
  noteLooks();
  had.focus();
  return {
    /** Notes what has the focus now; the answer is what is wrong with it, or that the walk is over. */
    async look() {
      // Tab goes through the parts of a date and through what is inside a frame; dialogs look after a while where it went.
      const hasParts = last?.matches('iframe,[type=date],[type=time],[type=datetime-local]');
      if (hasParts) await new Promise((resolve) => setTimeout(resolve));
      const one = document.activeElement;
      if (hasParts && one === last) return [];
      last = one;
      if (!root.contains(one) || one === root || one === document.body) return 'end';
      if (reached.has(idOf(one))) return idOf(one) === [...reached][0] ? 'end' : 'keeps the focus: ' + said(one);
      reached.add(idOf(one));
      groups.add(groupOf(one));
      finish();
      if (isChanged) noteLooks();
      isChanged = false;
      const before = looks.get(one);
      const faults = [];
      if (before && lookOf(one).every((mark) => before.includes(mark))) faults.push('does not show the focus: ' + said(one));
      if (isCovered(one)) faults.push('is covered: ' + said(one));
      if (nameOf(one) === '' && one.matches(INTERACTIVE)) faults.push('has no name: ' + said(one));
      return faults;
    },
    /** What was not reached or cannot be; isLate: some of it came after the walk had begun, and may stand where Tab had been. */
    missed() {
      const left = usable().filter((one) => !reached.has(idOf(one)) && !(groupOf(one) && groups.has(groupOf(one))));
      return {
        faults: [
          ...left.map((one) => 'is not reached: ' + said(one)),
          ...clickable().map((one) => 'is for a pointer only: ' + said(one)),
        ],
        isLate: left.some((one) => !atFirst.has(one)),
      };
    },
    /** What opens a dialog or menu; of those that rows of a list have, and of several whose names begin alike, one. */
    openers() {
      const all = usable().filter((one) => one.matches('[aria-haspopup=dialog],[aria-haspopup=menu]'));
      const likeOf = (one) => one.closest('tr,li,article') ? one.getAttribute('aria-haspopup') : nameOf(one).replace(/ .*/, '');
      for (const one of document.querySelectorAll('[data-opener]')) delete one.dataset.opener;
      return [...new Map(all.map((one) => [likeOf(one), one]))].map(([like, one], at) => {
        one.dataset.opener = String(at);
        return { at: String(at), kind: one.getAttribute('aria-haspopup'), name: nameOf(one), like: location.pathname.split('/')[1] + ' ' + like };
      });
    },
    hasFocus: (name) => document.activeElement.matches('[aria-haspopup]') && nameOf(document.activeElement) === name,
  };
}`;

interface Opener {
  at: string;
  kind: 'dialog' | 'menu';
  name: string;
  /** Area and text of the opened content. Equal for buttons that open the same content on several pages. */
  like: string;
}

/**
 * Walks through a part of a page by Tab, and opens and closes each of its dialogs and menus (or only the open dialog).
 * Returns problems: interactive elements that are unreachable, unnamed, covered, pointer-only or without visible focus,
 * focus traps, and dialogs and menus with wrong keyboard behaviour. Elements in `opened` are not opened again.
 */
export async function walkByKeyboard(page: Page, part: 'body' | '#main', opened: Set<string>): Promise<string[]> {
  if (await page.locator(DIALOG).isVisible()) return walk(page, DIALOG);
  if (part === '#main') await page.locator(part).focus();
  else await page.evaluate('document.activeElement.blur()');
  const found = await walk(page, part);
  for (const opener of (await page.evaluate(`watched['${part}'].openers()`)) as Opener[]) {
    if (opened.has(opener.like)) continue;
    opened.add(opener.like);
    const faults = await openAndClose(page, part, opener);
    found.push(...faults.map((fault) => `${opener.kind} of "${opener.name}": ${fault}`));
  }
  return found;
}

/**
 * Tabs until the focus leaves the part or repeats. If new elements appeared that were not reached, walks once more;
 * elements missed twice are unreachable.
 */
async function walk(page: Page, part: string): Promise<string[]> {
  const start = await page.evaluateHandle('document.activeElement');
  const first = await walkOnce(page, part);
  if (!first.isLate) return first.faults;
  await start.evaluate('(one) => (one === document.body ? document.activeElement.blur() : one.focus())');
  return (await walkOnce(page, part)).faults;
}

async function walkOnce(page: Page, part: string): Promise<{ faults: string[]; isLate: boolean }> {
  const watched = `watched[${JSON.stringify(part)}]`;
  await page.evaluate(`(window.watched ??= {}, ${watched} = (${WATCH})(document.querySelector('${part}')), undefined)`);
  const found: string[] = [];
  for (let stops = 0; ; stops += 1) {
    if (stops === MOST_STOPS) return { faults: [...found, `${part} has no end`], isLate: false };
    await pressTab(page);
    const faults = (await page.evaluate(`${watched}.look()`)) as string | string[];
    if (faults === 'end') break;
    found.push(...[faults].flat());
    if (typeof faults === 'string') break;
  }
  const missed = (await page.evaluate(`${watched}.missed()`)) as { faults: string[]; isLate: boolean };
  return { faults: [...found, ...missed.faults], isLate: missed.isLate };
}

/** Index of the focused element in a page or frame. */
const PLACE = `[...document.querySelectorAll('*')].indexOf(document.activeElement)`;

/**
 * Presses Tab and waits until the focus has moved. A frame in another process reports the focus later. A second key
 * press before this report would skip an element.
 */
async function pressTab(page: Page): Promise<void> {
  const focused = page.frames().length > 1 ? await page.evaluateHandle('document.activeElement') : undefined;
  const frame = await focused?.asElement()?.contentFrame();
  if (!frame) return page.keyboard.press('Tab');
  const places = async () => [await page.evaluate(PLACE), await frame.evaluate(PLACE)].join();
  const before = await places();
  await page.keyboard.press('Tab');
  for (const end = Date.now() + OPENING_MS; Date.now() < end && (await places()) === before;) await sleep(20);
}

async function openAndClose(page: Page, part: string, { at, kind, name }: Opener): Promise<string[]> {
  const opened = page.locator(`[role="${kind}"]`).first();
  const is = (state: 'visible' | 'hidden') =>
    opened.waitFor({ state, timeout: OPENING_MS }).then(
      () => true,
      () => false,
    );
  const holds = async (condition: string) => {
    for (const end = Date.now() + OPENING_MS; Date.now() < end; await sleep(20))
      if (await page.evaluate(condition)) return true;
    return false;
  };
  await page.locator(`[data-opener="${at}"]`).focus();
  await page.keyboard.press('Enter');
  if (!(await is('visible'))) return ['does not open by Enter'];
  const faults: string[] = [];
  if (kind === 'menu') await page.keyboard.press('ArrowDown');
  if (!(await holds(`document.activeElement.closest('[role=${kind}]') !== null`)))
    faults.push('does not take the focus');
  await opened.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached', timeout: OPENING_MS });
  if (kind === 'dialog') faults.push(...(await walk(page, DIALOG)));
  // Closes a list that the focused field has opened.
  if (await page.evaluate(`document.activeElement.matches('input[aria-expanded=true]')`))
    await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  if (!(await is('hidden'))) return [...faults, 'does not close by Escape'];
  if (!(await holds(`watched['${part}'].hasFocus(${JSON.stringify(name)})`)))
    faults.push('does not give the focus back');
  return faults;
}
