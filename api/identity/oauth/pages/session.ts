import { renewBrowserSession } from '../../../../domain/identity/browser-session.ts';
import { AppError } from '../../../../lib/errors.ts';
import { z } from 'zod';
import { route } from '../../../http/route.ts';
import { timestamp, uuid } from '../../../http/schemas.ts';
import { cookieNames, readCookies, setCookie } from '../../../pages/cookies.ts';
import { assertOwnOrigin } from '../../../pages/visit.ts';
import { message } from '../../../../messages/index.ts';

const ACCESS = z.strictObject({
  access_token: z.string(),
  access_token_expires_at: timestamp,
  session_id: uuid,
  user_id: uuid,
});

/**
 * Routes by which the dashboard's scripts get an access token for a browser's session. Scripts never see the session
 * cookie.
 */
export const sessionRoutes = [
  route({
    operationId: 'pages.renewSession',
    atRoot: true,
    area: 'pages',
    scope: 'public',
    permission: null,
    organization: false,
    method: 'post',
    path: '/account/session',
    summary: "Renew a browser's session: get an access token for the dashboard",
    description:
      'The cookie is replaced each time, and the previous one stops working after a minute. Using it later is taken as theft and ends the session. Only pages of this origin are answered, so that no other site can renew a session or read its token.',
    success: { status: 200, body: 'stream', contentType: 'application/json', schema: z.toJSONSchema(ACCESS) },
    errors: ['unauthorized', 'forbidden'],
    handler: async (ctx, { headers }) => {
      assertOwnOrigin(ctx.config, headers);
      const { session } = cookieNames(ctx.config);
      const value = readCookies(headers.cookie).get(session);
      if (!value) throw new AppError('unauthorized', message('session.none'), { fix: message('session.none.fix') });
      const { tokens, ...next } = await renewBrowserSession(ctx, value);
      const access: z.output<typeof ACCESS> = {
        access_token: tokens.accessToken,
        access_token_expires_at: tokens.accessTokenExpiresAt.toISOString(),
        session_id: tokens.sessionId,
        user_id: tokens.userId,
      };
      return {
        stream: JSON.stringify(access),
        contentType: 'application/json; charset=utf-8',
        cookies: [setCookie(ctx.config, session, next.value, next.maxAgeMs)],
      };
    },
  }),
];
