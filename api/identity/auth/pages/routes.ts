import type { AnyRoute } from '../../../http/route.ts';
import { invitationRoutes } from './invitation.ts';
import { resetRoutes } from './reset.ts';
import { setupRoutes } from './setup.ts';

/** The pages of links that Heron prints or mails: setup, invitations, new passwords. Rendered here, without a script. */
export const linkPageRoutes: readonly AnyRoute[] = [...setupRoutes, ...invitationRoutes, ...resetRoutes];
