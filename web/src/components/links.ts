import { useRouter } from '@tanstack/react-router';
import { useMemo, type SyntheticEvent, type MouseEvent } from 'react';
import { routed, type Address } from './page-link.tsx';

/**
 * Makes plain links within a part of a page behave like `PageLink`. Long lists use it, because one component per link
 * is too slow.
 */
export function useLinks(): { follow: (event: MouseEvent) => void; begin: (event: SyntheticEvent) => void } {
  const router = useRouter();
  return useMemo(
    () => ({
      follow(event) {
        const link = linkOf(event);
        const isPlain =
          event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || link?.target);
        if (!link || !isPlain || event.defaultPrevented || link.origin !== window.location.origin) return;
        event.preventDefault();
        router.history.push(link.pathname + link.search);
      },
      /** Loads the page's code while the mouse button is still down. */
      begin(event) {
        const link = linkOf(event);
        if (link?.origin === window.location.origin) void router.preloadRoute({ to: routed(link.pathname as Address) });
      },
    }),
    [router],
  );
}

const linkOf = ({ target }: SyntheticEvent) => (target as Element).closest('a');
