import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from './api.ts';
import { Broken, Lost, Waiting } from './edges.tsx';
import { personQuery } from './person.ts';
import { Shell } from './shell.tsx';

/** Filters and what is chosen live in the address, as text: a link to a list is a link to what is seen. */
type Search = Record<string, string | undefined>;
const search = (given: Record<string, unknown>): Search =>
  Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) =>
      typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? [[name, `${value}`]] : [],
    ),
  );

const root = createRootRoute({
  component: Shell,
  validateSearch: search,
  loader: () => queryClient.ensureQueryData(personQuery),
  pendingComponent: Waiting,
  errorComponent: Broken,
  notFoundComponent: Lost,
});

const at = <Path extends string>(path: Path, load: () => Promise<{ default: () => React.ReactNode }>) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load) });

const tree = root.addChildren([
  at('/', () => import('../rooms/start/page.tsx')),
  at('/campaigns', () => import('../rooms/campaigns/list.tsx')),
  at('/campaigns/new', () => import('../rooms/campaigns/new.tsx')),
  at('/campaigns/$id', () => import('../rooms/campaigns/page.tsx')),
  at('/review', () => import('../rooms/review/list.tsx')),
  at('/mailboxes', () => import('../rooms/mailboxes/list.tsx')),
  at('/mailboxes/new', () => import('../rooms/mailboxes/connect.tsx')),
  at('/mailboxes/$id', () => import('../rooms/mailboxes/page.tsx')),
]);

export const router = createRouter({
  routeTree: tree,
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  defaultPendingMs: 200,
  scrollRestoration: true,
  defaultErrorComponent: Broken,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
