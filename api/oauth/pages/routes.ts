import type { AnyRoute } from '../../http/route.ts';
import { appsRoutes } from './apps.ts';
import { consentRoutes } from './consent.ts';
import { logoRoutes } from './logo.ts';
import { signInRoutes } from './sign-in.ts';

/** The pages people meet: signing in, consent, authorized apps. Rendered here, without a script. */
export const pageRoutes: readonly AnyRoute[] = [...consentRoutes, ...signInRoutes, ...appsRoutes, ...logoRoutes];
