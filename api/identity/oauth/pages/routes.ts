import type { AnyRoute } from '../../../http/route.ts';
import { appsRoutes } from './apps.ts';
import { consentRoutes } from './consent.ts';
import { logoRoutes } from './logo.ts';
import { sessionRoutes } from './session.ts';
import { signInRoutes } from '../../../pages/sign-in.ts';

/** Server-rendered pages without scripts: sign-in, consent, authorized apps. */
export const pageRoutes: readonly AnyRoute[] = [
  ...consentRoutes,
  ...signInRoutes,
  ...sessionRoutes,
  ...appsRoutes,
  ...logoRoutes,
];
