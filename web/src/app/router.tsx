import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from './api.ts';
import { PageError, NotFound } from './edges.tsx';
import { PAGES } from './pages.ts';
import { personQuery } from './person.ts';
import { Shell } from './shell.tsx';

/** Query parameters: filters and selections are in the address as text, so that a link reproduces the view. */
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
  errorComponent: PageError,
  notFoundComponent: NotFound,
});

const page = <Path extends string>(path: Path, load: (typeof PAGES)[number]['load']) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load) });

const tree = root.addChildren(PAGES.map(({ path, load }) => page(path, load)));

export const router = createRouter({
  routeTree: tree,
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  defaultPendingMs: 200,
  scrollRestoration: true,
  defaultErrorComponent: PageError,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
