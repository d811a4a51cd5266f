import { Link, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import classes from './sub-pages.module.css';

/** The pages of one room, as links in a row; the one that is open is marked. */
export function SubPages({ label, pages }: { label: string; pages: readonly { to: string; label: string }[] }) {
  const list = useRef<HTMLElement>(null);
  const path = useRouterState({ select: (state) => state.location.pathname });
  useEffect(() => {
    // On a phone the row is wider than the page: the open one is brought into sight, and the page stays where it is.
    const open = list.current?.querySelector<HTMLElement>('[data-status="active"]');
    if (open) list.current!.scrollLeft = open.offsetLeft - (list.current!.clientWidth - open.clientWidth) / 2;
  }, [path]);
  return (
    <nav className={classes.list} aria-label={label} ref={list}>
      {pages.map((page) => (
        <Link
          key={page.to}
          to={page.to as never}
          className={classes.link}
          activeOptions={{ exact: true, includeSearch: false }}
        >
          {page.label}
        </Link>
      ))}
    </nav>
  );
}
