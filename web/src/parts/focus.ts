import { useEffect, useLayoutEffect, useRef } from 'react';

/**
 * Gives the focus back to the button that had it when its work began. A button that shows that it is busy cannot be used meanwhile, and
 * so loses the focus; whoever works by keyboard would start again at the head of the page.
 */
export function useFocusBack(isBusy: boolean): void {
  const held = useRef<Element | null>(null);
  // Right after the button was switched off, before the browser takes the focus from it.
  useLayoutEffect(() => {
    if (isBusy) held.current = document.activeElement;
  }, [isBusy]);
  useEffect(() => {
    const button = held.current;
    if (isBusy || !button) return;
    held.current = null;
    if (document.activeElement === document.body && button instanceof HTMLElement)
      button.focus({ preventScroll: true });
  }, [isBusy]);
}

/**
 * What makes a button do something, or nothing while it is off. A button that a browser disables loses the focus; one that may have it when
 * an answer switches it off is switched off so.
 */
export function offProps(isOff: boolean, act: () => void) {
  return isOff ? { 'aria-disabled': true, 'data-disabled': true } : { onClick: () => act() };
}
