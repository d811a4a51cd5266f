import { useEffect, useLayoutEffect, useRef } from 'react';

/**
 * Returns the focus to a button after its action. A busy button is disabled and loses the focus. Without this, keyboard
 * users would start again at the top of the page.
 * @param isGone called when the action is done and the button may have been removed with it
 */
export function useFocusReturn(isBusy: boolean, isGone?: () => void): void {
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
  // Runs right after the button was disabled, before the browser moves the focus away.
  useLayoutEffect(() => {
    if (isBusy) held.current = document.activeElement;
  }, [isBusy]);
  useEffect(() => {
    if (!isBusy) giveBack.current();
  }, [isBusy]);
  // The action may have removed the row or page that contains the button.
  useEffect(() => giveBack.current, []);
}

/** Maximum time (ms) in which a closing dialog removes its focused element. */
const FADED_MS = 600;
const LOOKED_MS = 50;

/**
 * Moves the focus to the page heading if the focused element was removed by an action or with the opener of a dialog.
 * Otherwise keyboard and screen reader users would start at the end of the page.
 */
export function restoreFocus(): void {
  const until = Date.now() + FADED_MS;
  // Stops when the person acts again, because that action sets the focus. Until then it checks repeatedly, because a
  // busy button may have lost the focus only temporarily.
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
 * Returns the props of a button that may be disabled. Uses `aria-disabled`, because browsers remove the focus from
 * buttons with `disabled`.
 */
export function offProps(isOff: boolean, act: () => void) {
  return isOff ? { 'aria-disabled': true, 'data-disabled': true } : { onClick: () => act() };
}
