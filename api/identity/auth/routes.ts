import { z } from 'zod';
import { keepAccount, scheduleAccountDeletion } from '../../../domain/identity/deletion/account.ts';
import { readProfile, updateProfile } from '../../../domain/identity/auth/profile.ts';
import { requestPasswordReset, changePassword, confirmReset } from '../../../domain/identity/auth/reset-password.ts';
import { passwordProblems } from '../../../domain/identity/passwords.ts';
import {
  listSessions,
  refreshSession,
  revokeSession,
  signOut,
  signOutEverywhere,
} from '../../../domain/identity/sessions.ts';
import { claimSetup } from '../../../domain/identity/auth/setup.ts';
import { confirmSignIn, signIn } from '../../../domain/identity/auth/sign-in.ts';
import { confirmSignUp, signUp } from '../../../domain/identity/auth/sign-up.ts';
import { route, type AnyRoute } from '../../http/route.ts';
import { idParams } from '../../http/schemas.ts';
import { presentLogin, presentSession, presentTokens, presentUser } from './present.ts';
import * as schemas from './schemas.ts';

const publicly = { area: 'auth', scope: 'public', permission: null, organization: false } as const;
const signedIn = { area: 'auth', scope: 'session', permission: null, organization: false } as const;

const publicRoutes = [
  route({
    ...publicly,
    operationId: 'auth.setUpInstallation',
    method: 'post',
    path: '/auth/setup',
    summary: 'Set up a new installation with its setup link',
    description:
      'Creates the administrator of the installation, the first workspace, and a session. Works once, while no account exists.',
    body: schemas.setupBody,
    furtherProblems: async (_ctx, { password, email }) => passwordProblems(password, email),
    success: { status: 200, body: schemas.tokenPair },
    errors: ['setup_token_invalid', 'setup_already_complete'],
    handler: async (ctx, { body }) =>
      presentTokens(
        await claimSetup(ctx, {
          token: body.token,
          email: body.email,
          password: body.password,
          firstName: body.first_name,
          lastName: body.last_name,
          organization: body.organization,
        }),
      ),
  }),
  route({
    ...publicly,
    operationId: 'auth.register',
    method: 'post',
    path: '/auth/register',
    summary: 'Start a sign-up; a code is mailed',
    description:
      'Nothing is created before the code is confirmed. DISABLE_REGISTRATION defines who may sign up: anyone, invited addresses only, or no one. Without it, sign-up of a production installation is closed to uninvited addresses once an account exists.',
    body: schemas.registerBody,
    furtherProblems: async (_ctx, { password, email }) => passwordProblems(password, email),
    success: { status: 200, body: schemas.authSession },
    errors: [
      'unauthorized',
      'registration_closed',
      'registration_invite_only',
      'invitation_invalid',
      'rate_limit_exceeded',
    ],
    handler: (ctx, { body }) =>
      signUp(ctx, {
        email: body.email,
        password: body.password,
        firstName: body.first_name,
        lastName: body.last_name,
        invitation: body.invitation,
      }),
  }),
  route({
    ...publicly,
    operationId: 'auth.confirmRegistration',
    method: 'post',
    path: '/auth/register/confirm',
    summary: 'Complete a sign-up with the mailed code',
    description: 'Creates the account, and with an invitation the membership. Does not sign in.',
    body: schemas.confirmBody,
    success: { status: 204 },
    errors: ['unauthorized', 'invitation_invalid'],
    handler: (ctx, { body }) => confirmSignUp(ctx, body),
  }),
  route({
    ...publicly,
    operationId: 'auth.login',
    method: 'post',
    path: '/auth/login',
    summary: 'Sign in with a password',
    description:
      'Returns a handle for POST /auth/login/confirm if a code was mailed, otherwise tokens. AUTH_LOGIN_CODE decides: `always`, `new_device` (unless `device_token` names a device that signed in with a code in the last 90 days), or `off`.',
    body: schemas.loginBody,
    success: { status: 200, body: z.union([schemas.authSession, schemas.loginResult]) },
    errors: ['unauthorized', 'rate_limit_exceeded'],
    handler: async (ctx, { body }) => {
      const result = await signIn(ctx, { email: body.email, password: body.password, deviceToken: body.device_token });
      return 'session' in result ? result : presentLogin(result);
    },
  }),
  route({
    ...publicly,
    operationId: 'auth.confirmLogin',
    method: 'post',
    path: '/auth/login/confirm',
    summary: 'Complete a sign-in with the mailed code',
    description: 'Send the returned `device_token` with later sign-ins: this device then needs no code for 90 days.',
    body: schemas.confirmBody,
    success: { status: 200, body: schemas.loginResult },
    errors: ['unauthorized'],
    handler: async (ctx, { body }) => presentLogin(await confirmSignIn(ctx, body)),
  }),
  route({
    ...publicly,
    operationId: 'auth.refreshTokens',
    method: 'post',
    path: '/auth/refresh',
    summary: 'Exchange a refresh token for a new pair',
    description: 'A refresh token works once. Using it again ends its session.',
    body: schemas.refreshBody,
    success: { status: 200, body: schemas.tokenPair },
    errors: ['unauthorized'],
    handler: async (ctx, { body }) => presentTokens(await refreshSession(ctx, body.refresh_token)),
  }),
  route({
    ...publicly,
    operationId: 'auth.requestPasswordReset',
    method: 'post',
    path: '/auth/reset-password',
    summary: 'Mail a link for setting a new password',
    description: 'Answers the same for addresses with and without an account.',
    body: schemas.resetBody,
    success: { status: 200 },
    errors: ['rate_limit_exceeded'],
    handler: (ctx, { body }) => requestPasswordReset(ctx, body.email),
  }),
  route({
    ...publicly,
    operationId: 'auth.confirmPasswordReset',
    method: 'post',
    path: '/auth/reset-password/confirm',
    summary: 'Set a new password with the mailed link',
    description: 'Ends every session of the account and forgets its devices.',
    body: schemas.resetConfirmBody,
    furtherProblems: async (_ctx, { password }) => passwordProblems(password, undefined),
    success: { status: 200 },
    errors: ['unauthorized', 'rate_limit_exceeded'],
    handler: (ctx, { body }) => confirmReset(ctx, body),
  }),
];

const sessionRoutes = [
  route({
    ...signedIn,
    operationId: 'auth.logout',
    method: 'post',
    path: '/auth/logout',
    summary: 'End the current session',
    stops: true,
    success: { status: 204 },
    handler: (ctx) => signOut(ctx),
  }),
  route({
    ...signedIn,
    operationId: 'auth.logoutAll',
    method: 'post',
    path: '/auth/logout-all',
    summary: 'End all sessions of the caller and forget their devices',
    description: 'Includes the session of this request.',
    stops: true,
    success: { status: 204 },
    handler: (ctx) => signOutEverywhere(ctx, 'all'),
  }),
  route({
    ...signedIn,
    operationId: 'auth.getMe',
    method: 'get',
    path: '/auth/me',
    summary: 'The signed-in person',
    description: 'Includes their workspaces with roles and permissions, and the labels of the selected one.',
    success: { status: 200, body: schemas.user },
    handler: async (ctx) => presentUser(await readProfile(ctx), ctx.actor.organizationId),
  }),
  route({
    ...signedIn,
    operationId: 'auth.updateMe',
    method: 'patch',
    path: '/auth/me',
    summary: 'Change your name or language',
    body: schemas.profileBody,
    success: { status: 200, body: schemas.user },
    handler: async (ctx, { body }) => presentUser(await updateProfile(ctx, body), ctx.actor.organizationId),
  }),
  route({
    ...signedIn,
    operationId: 'auth.deleteMe',
    method: 'delete',
    path: '/auth/me',
    summary: 'Delete your account in 14 days',
    description:
      'Workspaces of which you are the only member are deleted with it. Refused with a list of workspaces while you are the only owner of one with other members. ' +
      'You can sign in until then. Records that you created in other workspaces are kept.',
    body: schemas.accountDeletionBody,
    success: { status: 200, body: schemas.user },
    errors: ['conflict'],
    handler: async (ctx, { body }) => {
      await scheduleAccountDeletion(ctx, body.password);
      return presentUser(await readProfile(ctx), ctx.actor.organizationId);
    },
  }),
  route({
    ...signedIn,
    operationId: 'auth.restoreMe',
    method: 'post',
    path: '/auth/me/restore',
    summary: 'Keep your account, whose deletion is scheduled',
    description: 'Keeps the workspaces that were scheduled with it. Their campaigns stay paused.',
    success: { status: 200, body: schemas.user },
    errors: ['conflict'],
    handler: async (ctx) => {
      await keepAccount(ctx);
      return presentUser(await readProfile(ctx), ctx.actor.organizationId);
    },
  }),
  route({
    ...signedIn,
    operationId: 'auth.changePassword',
    method: 'post',
    path: '/auth/me/password',
    summary: 'Change your password',
    description:
      'Voids emailed links and codes. Ends the other sessions and forgets devices, unless `keep_other_sessions` is true.',
    body: schemas.passwordBody,
    furtherProblems: async (_ctx, { new_password: password }) => passwordProblems(password, undefined, 'new_password'),
    success: { status: 200 },
    handler: (ctx, { body }) =>
      changePassword(ctx, {
        current: body.current_password,
        next: body.new_password,
        keepSessions: body.keep_other_sessions,
      }),
  }),
  route({
    ...signedIn,
    operationId: 'auth.listSessions',
    method: 'get',
    path: '/auth/sessions',
    summary: 'Live sessions, the current one first',
    success: { status: 200, body: z.array(schemas.session) },
    handler: async (ctx) => (await listSessions(ctx)).map((row) => presentSession(row, ctx.actor.sessionId)),
  }),
  route({
    ...signedIn,
    operationId: 'auth.revokeOtherSessions',
    method: 'delete',
    path: '/auth/sessions',
    summary: 'End all sessions but the current one',
    stops: true,
    success: { status: 204 },
    handler: (ctx) => signOutEverywhere(ctx, 'others'),
  }),
  route({
    ...signedIn,
    operationId: 'auth.revokeSession',
    method: 'delete',
    path: '/auth/sessions/:id',
    summary: 'End one session',
    params: idParams,
    stops: true,
    success: { status: 204 },
    handler: (ctx, { params }) => revokeSession(ctx, params.id),
  }),
];

/** Routes of sign-up, sign-in, sign-out, the caller's profile and sessions. */
export const authRoutes: readonly AnyRoute[] = [...publicRoutes, ...sessionRoutes];
