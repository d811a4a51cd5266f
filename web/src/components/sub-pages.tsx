import { Link, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { routed, type Address } from './page-link.tsx';
import classes from './sub-pages.module.css';

/** Links to the pages of one area; the current one is marked. */
export function SubPages({ label, pages }: { label: string; pages: readonly { to: Address; label: string }[] }) {
  const list = useRef<HTMLElement>(null);
  const path = useRouterState({ select: (state) => state.location.pathname });
  useEffect(() => {
    scrollToOpenTab(list.current, '[data-status="active"]');
  }, [path]);
  return (
    <nav className={classes.list} aria-label={label} ref={list}>
      {pages.map((page) => (
        <Link
          key={page.to}
          to={routed(page.to)}
          className={classes.link}
          activeOptions={{ exact: true, includeSearch: false }}
        >
          {page.label}
        </Link>
      ))}
    </nav>
  );
}

/**
 * Scrolls the open tab into view within its row, which is wider than the page on a phone. The page itself is not
 * scrolled.
 */
export function scrollToOpenTab(row: HTMLElement | null, selector: string): void {
  const open = row?.querySelector<HTMLElement>(selector);
  if (row && open) row.scrollLeft = open.offsetLeft - (row.clientWidth - open.clientWidth) / 2;
}
