import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { queryClient } from './api.ts';
import { PageError, NotFound } from './edges.tsx';
import type { PageRoute } from './page-route.ts';
import { PAGES } from './pages.ts';
import { personQuery } from './person.ts';
import { Shell } from './shell.tsx';

/** Query parameters: filters and selections are in the URL as text, so that a link reproduces the view. */
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

const routeOf = <Path extends string>({ path, load }: PageRoute<Path>) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load) });

type RouteOf<Page> = Page extends PageRoute<infer Path> ? ReturnType<typeof routeOf<Path>> : never;
type Pages = typeof PAGES;
/** One route for each page, so that the compiler knows the parameters of every URL. */
type Routes = { -readonly [Index in keyof Pages]: RouteOf<Pages[Index]> };

const tree = root.addChildren(PAGES.map((page: PageRoute) => routeOf(page)) as unknown as Routes);

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
