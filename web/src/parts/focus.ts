import { useEffect, useLayoutEffect, useRef } from 'react';

/**
 * Gives the focus back to the button that had it when its work began. A button that shows that it is busy cannot be used meanwhile, and
 * so loses the focus; whoever works by keyboard would start again at the head of the page.
 * @param isGone called when the work is done and the button may have gone with it
 */
export function useFocusBack(isBusy: boolean, isGone?: () => void): void {
  const held = useRef<Element | null>(null);
  const done = useRef(isGone);
  done.current = isGone;
  const giveBack = useRef(() => {
    const button = held.current;
    held.current = null;
    if (!button || button === document.body) return;
    if (document.activeElement === document.body && button instanceof HTMLElement)
      button.focus({ preventScroll: true });
    done.current?.();
  });
  // Right after the button was switched off, before the browser takes the focus from it.
  useLayoutEffect(() => {
    if (isBusy) held.current = document.activeElement;
  }, [isBusy]);
  useEffect(() => {
    if (!isBusy) giveBack.current();
  }, [isBusy]);
  // What was done may take away the row or the page in which the button stands.
  useEffect(() => giveBack.current, []);
}

/** For so long (ms) a dialog may fade before what had the focus in it has left the page. */
const FADED_MS = 600;
const LOOKED_MS = 50;

/**
 * Gives the focus to the head of the page where nothing has it any more: what was done took the button away, or what opened the dialog in which it
 * was done. Whoever works by keyboard would start again at the end of the page, and who hears it would hear nothing.
 */
export function keepFocus(): void {
  const until = Date.now() + FADED_MS;
  // The next thing that somebody does has the focus where they want it: a button that is busy with that has lost it for a moment, and gets it back.
  const looking = new AbortController();
  const stop = () => looking.abort();
  for (const next of ['keydown', 'pointerdown'])
    document.addEventListener(next, stop, { signal: looking.signal, capture: true });
  const look = () => {
    if (looking.signal.aborted) return;
    if (document.activeElement !== document.body && Date.now() < until) {
      setTimeout(look, LOOKED_MS);
      return;
    }
    stop();
    if (document.activeElement === document.body) focusPage();
  };
  look();
}

function focusPage(): void {
  const head = document.querySelector<HTMLElement>('#main h1[tabindex]') ?? document.getElementById('main');
  head?.focus({ preventScroll: true });
}

/**
 * What makes a button do something, or nothing while it is off. A button that a browser disables loses the focus; one that may have it when
 * an answer switches it off is switched off so.
 */
export function offProps(isOff: boolean, act: () => void) {
  return isOff ? { 'aria-disabled': true, 'data-disabled': true } : { onClick: () => act() };
}
