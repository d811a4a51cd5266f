import { useRouter } from '@tanstack/react-router';
import { useMemo, type SyntheticEvent, type MouseEvent } from 'react';
import { pageAt } from '../app/pages.ts';

/** Makes plain links to pages of the dashboard behave as `To` does, for a whole part of a page at once: a component for each costs too much in long lists. */
export function useLinks(): { follow: (event: MouseEvent) => void; begin: (event: SyntheticEvent) => void } {
  const { history } = useRouter();
  return useMemo(
    () => ({
      follow(event) {
        const link = linkOf(event);
        const isPlain =
          event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || link?.target);
        if (!link || !isPlain || event.defaultPrevented || link.origin !== window.location.origin) return;
        event.preventDefault();
        history.push(link.pathname + link.search);
      },
      /** The code of the page comes while the button is still down. */
      begin(event) {
        const link = linkOf(event);
        if (link?.origin === window.location.origin) void pageAt(link.pathname)?.load();
      },
    }),
    [history],
  );
}

const linkOf = ({ target }: SyntheticEvent) => (target as Element).closest('a');
