import { whoAmI } from '../../../domain/identity/whoami.ts';
import { z } from 'zod';
import { route } from '../../http/route.ts';
import { resource, uuid } from '../../http/schemas.ts';

const identity = resource('Identity', {
  user_id: uuid.nullable(),
  email: z.string().nullable(),
  name: z.string().nullable(),
  first_name: z.string().nullable(),
  last_name: z.string().nullable(),
  organization_id: uuid.nullable(),
  organization_name: z.string().nullable(),
  is_test: z.boolean().meta({ description: 'True in a test workspace, whose emails are never delivered' }),
  auth_type: z.enum(['api_key', 'oauth', 'session']),
  scopes: z.array(z.string()).meta({ description: 'Of a key or token; empty for a session, whose role decides' }),
});

/** Route that returns the caller of a credential: its workspace, person and scopes. */
export const meRoutes = [
  route({
    operationId: 'auth.getIdentity',
    method: 'get',
    path: '/me',
    area: 'auth',
    scope: 'any',
    permission: null,
    organization: false,
    summary: 'Show the person, workspace and scopes of the credential',
    description: 'Every valid credential may call it.',
    success: { status: 200, body: identity },
    handler: async (ctx) => {
      const { userId, email, firstName, lastName, organizationId, organizationName, isTest, scopes } =
        await whoAmI(ctx);
      const { kind } = ctx.actor;
      const authType = kind === 'api_key' || kind === 'oauth' ? kind : ('session' as const);
      return {
        user_id: userId,
        email,
        name: firstName === null ? null : `${firstName} ${lastName ?? ''}`.trim(),
        first_name: firstName,
        last_name: lastName,
        organization_id: organizationId,
        organization_name: organizationName,
        is_test: isTest,
        auth_type: authType,
        scopes,
      };
    },
  }),
];
