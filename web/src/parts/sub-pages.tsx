import { Link } from '@tanstack/react-router';
import classes from './sub-pages.module.css';

/** The pages of one room, as links in a row; the one that is open is marked. */
export function SubPages({ label, pages }: { label: string; pages: readonly { to: string; label: string }[] }) {
  return (
    <nav className={classes.list} aria-label={label}>
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
