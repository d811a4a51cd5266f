import type { AnyRoute } from '../../../http/route.ts';
import { invitationRoutes } from './invitation.ts';
import { resetRoutes } from './reset.ts';
import { setupRoutes } from './setup.ts';

/**
 * Pages of links that Heron prints or mails: setup, invitations, new passwords. Rendered on the server, without
 * scripts.
 */
export const linkPageRoutes: readonly AnyRoute[] = [...setupRoutes, ...invitationRoutes, ...resetRoutes];
