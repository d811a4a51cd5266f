import { json } from '../../db/connection.ts';
import { ensureSetupLink } from '../../domain/identity/auth/setup.ts';
import { trackingToken } from '../../domain/mail/messages/tracking-token.ts';
import { maskOf } from '../../lib/permissions.ts';
import { newSecret, sha256 } from '../../lib/crypto.ts';
import { newId } from '../../lib/ids.ts';
import { createApproval } from '../harness/approvals.ts';
import { tenantWithPassword } from '../harness/consent.ts';
import { CALLBACK, createAccessToken, createApplication, pkce } from '../harness/oauth.ts';
import { freshEmail, mailedCode, mailedToken, PASSWORD, post } from '../harness/people.ts';
import type { World } from '../harness/world.ts';
import { formHeaders, hiddenField, openBrowser, openSignedIn, sendForm, type Browser } from './browser.ts';
import type { Ground, Make, Reaching } from './ground.ts';

/** Status of a redirect to the next page or back to the application. */
const SEE_OTHER = 303;
const ACCOUNT = { name: 'Ada Person', password: PASSWORD };

/**
 * Forms and parameters with which pages for people succeed. The browser has the cookies and the form of the previous
 * page.
 */
export const REACHING_PAGES: Record<string, Make> = {
  'pages.setup': async ({ world }) => ({ params: { token: await setupToken(world) } }),
  'pages.claimSetup': async ({ world }) => ({
    ...form(world, await openBrowser(world), { ...ACCOUNT, email: freshEmail(), organization: 'First' }),
    params: { token: await setupToken(world) },
  }),
  'pages.invitation': async (ground) => ({
    params: { token: await invitationToken(ground, freshEmail()) },
    headers: formHeaders(ground.world, await openBrowser(ground.world)),
  }),
  'pages.acceptInvitation': async (ground) => {
    const { world, tenant } = ground;
    const params = { token: await invitationToken({ world, tenant: await world.tenant() }, tenant.email) };
    return { ...form(world, await openSignedIn(world, tenant), {}), params };
  },
  'pages.signUpInvited': async (ground) => ({
    ...form(ground.world, await openBrowser(ground.world), ACCOUNT),
    params: { token: await invitationToken(ground, freshEmail()) },
  }),
  'pages.confirmInvited': async (ground) => {
    const { world } = ground;
    const email = freshEmail();
    const token = await invitationToken(ground, email);
    const browser = await sendForm(world, await openBrowser(world), `/invitations/${token}/account`, ACCOUNT);
    const fields = { session: hiddenField(browser, 'session'), code: mailedCode(world, email) };
    return { ...form(world, browser, fields), params: { token } };
  },
  'pages.approval': async (ground) => ({
    headers: formHeaders(ground.world, await openSignedIn(ground.world, ground.tenant)),
    params: { token: await approvalId(ground) },
  }),
  'pages.approvalSample': async (ground) => ({
    headers: formHeaders(ground.world, await openSignedIn(ground.world, ground.tenant)),
    params: { token: await approvalId(ground) },
    query: { n: '0' },
  }),
  'pages.decideApproval': async (ground) => ({
    ...form(ground.world, await openSignedIn(ground.world, ground.tenant), { decision: 'denied', reason: 'No' }),
    params: { token: await approvalId(ground) },
    status: SEE_OTHER,
  }),
  'pages.weeklyReport': async (ground) => ({ params: { token: await weeklyReportToken(ground) } }),
  'pages.setWeeklyReport': async (ground) => ({
    params: { token: await weeklyReportToken(ground) },
    body: { 'List-Unsubscribe': 'One-Click' },
  }),
  'pages.askReset': async ({ world, tenant }) => form(world, await openBrowser(world), { email: tenant.email }),
  'pages.confirmReset': async ({ world, tenant }) => {
    await post(world, '/v1/auth/reset-password', { email: tenant.email });
    return {
      ...form(world, await openBrowser(world), { password: PASSWORD }),
      params: { token: mailedToken(world, tenant.email) },
    };
  },
  'pages.signIn': async ({ world }) => {
    const { email } = await tenantWithPassword(world);
    return { ...form(world, await openBrowser(world), { email, password: PASSWORD }), status: SEE_OTHER };
  },
  'pages.signInCode': async ({ world }) => {
    const { email } = await tenantWithPassword(world);
    const credentials = { email, password: PASSWORD };
    const browser = await sendForm(world, await openBrowser(world), '/account/sign-in', credentials);
    return { ...form(world, browser, { code: mailedCode(world, email) }), status: SEE_OTHER };
  },
  'pages.restartSignIn': async ({ world }) => ({ ...form(world, await openBrowser(world), {}), status: SEE_OTHER }),
  'pages.showSignIn': async () => ({ query: { to: '/campaigns' } }),
  'pages.renewSession': async ({ world, tenant }) => {
    const browser = await openSignedIn(world, tenant);
    return { headers: formHeaders(world, browser) };
  },
  'pages.signOut': async ({ world, tenant }) => ({
    ...form(world, await openSignedIn(world, tenant), {}),
    status: SEE_OTHER,
  }),
  'pages.authorizedApps': async ({ world, tenant }) => {
    await createAccessToken(world, tenant);
    return { headers: formHeaders(world, await openSignedIn(world, tenant)) };
  },
  'pages.revokeApp': async ({ world, tenant }) => {
    await createAccessToken(world, tenant);
    const browser = await openSignedIn(world, tenant);
    return { ...form(world, browser, { grant_id: hiddenField(browser, 'grant_id') }), status: SEE_OTHER };
  },
  'pages.chooseWorkspace': async ({ world, tenant }) => ({
    ...form(world, await openSignedIn(world, tenant), { organization_id: tenant.organizationId }),
    status: SEE_OTHER,
  }),
  'oauth.authorize': async ({ world, tenant }) => ({
    query: await authorizationRequest({ world, tenant }),
    headers: formHeaders(world, await openSignedIn(world, tenant)),
  }),
  'pages.decide': async ({ world, tenant }) => {
    const request = new URLSearchParams(await authorizationRequest({ world, tenant })).toString();
    return form(world, await openSignedIn(world, tenant), {
      request,
      organization_id: tenant.organizationId,
      decision: 'approve',
      scope_read_contacts: 'on',
    });
  },
  'pages.mailboxConsent': async (ground) => ({
    query: { state: await consentSecret(ground, 'pending'), error: 'access_denied' },
    headers: formHeaders(ground.world, await openBrowser(ground.world)),
    status: 400,
  }),
  'pages.confirmMailboxConsent': async (ground) => ({
    ...form(ground.world, await openBrowser(ground.world), {
      consent: await consentSecret(ground, 'confirming'),
      answer: 'decline',
    }),
  }),
  'pages.logo': async ({ world, tenant }) => {
    const { clientId } = await createApplication(world.deps, tenant.organizationId, {
      logo_url: 'http://127.0.0.1:1/logo.png',
    });
    return {
      query: { client_id: clientId },
      headers: formHeaders(world, await openSignedIn(world, tenant)),
    };
  },
};

/** Returns the token of a setup link, which works while there is no account. */
export async function setupToken(world: World): Promise<string> {
  const link = await ensureSetupLink(world.deps);
  if (!link) throw new Error('this installation has an account');
  return link.url.split('/').at(-1)!;
}

/** Returns the token of an invitation to a tenant's workspace, as emailed to the address. */
export async function invitationToken(
  { world: { deps }, tenant }: Pick<Ground, 'world' | 'tenant'>,
  email: string,
): Promise<string> {
  const token = newSecret();
  const role = await deps.db('roles').where({ organization_id: tenant.organizationId, name: 'Viewer' }).first('id');
  await deps.db('invitations').insert({
    id: newId(),
    organization_id: tenant.organizationId,
    email,
    role_id: role.id,
    token_hash: sha256(token),
    invited_by: tenant.userId,
    created_at: deps.clock.now(),
    expires_at: new Date(deps.clock.now().getTime() + 3600_000),
  });
  return token;
}

/** Returns the secret of a consent to use a mailbox. The consent has the given status. */
async function consentSecret(
  { world: { deps }, tenant }: Pick<Ground, 'world' | 'tenant'>,
  status: 'pending' | 'confirming',
): Promise<string> {
  const secret = newSecret();
  await deps.db('mailbox_consents').insert({
    id: newId(),
    organization_id: tenant.organizationId,
    provider: 'gmail',
    status,
    session_hash: sha256(newSecret()),
    state_hash: sha256(secret),
    actor: json({ kind: 'system', userId: null, allowedMailboxes: null }),
    created_at: deps.clock.now(),
    expires_at: new Date(deps.clock.now().getTime() + 900_000),
  });
  return secret;
}

/** Returns the parameters of an authorization request for an application of the tenant. */
async function authorizationRequest({
  world,
  tenant,
}: Pick<Ground, 'world' | 'tenant'>): Promise<Record<string, string>> {
  const { clientId } = await createApplication(world.deps, tenant.organizationId, {
    scopes: maskOf(['READ_CONTACTS']),
  });
  return {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: CALLBACK,
    state: 'af0ifjsldkj',
    code_challenge: pkce().challenge,
    code_challenge_method: 'S256',
  };
}

function form(world: World, browser: Browser, fields: Record<string, string>): Reaching {
  return { body: { csrf: browser.csrf, request: '', ...fields }, headers: formHeaders(world, browser) };
}

async function approvalId({ world, tenant }: Ground): Promise<string> {
  return (await createApproval(world.system(tenant.organizationId), tenant)).id;
}

/** Returns the token in a weekly report that was emailed to the tenant's owner. */
async function weeklyReportToken({ world: { deps }, tenant }: Ground): Promise<string> {
  const [reportId, id, at] = [newId(), newId(), deps.clock.now()];
  const own = { organization_id: tenant.organizationId };
  await deps
    .db('weekly_reports')
    .insert({
      ...own,
      id: reportId,
      week: '2026-03-02',
      from_at: at,
      to_at: at,
      created_at: at,
    })
    .onConflict(['organization_id', 'week'])
    .ignore();
  const report = await deps
    .db('weekly_reports')
    .where({ ...own, week: '2026-03-02' })
    .first('id');
  await deps
    .db('weekly_report_mails')
    .insert({ ...own, id, report_id: report.id, user_id: tenant.userId, state: 'sent', claimed_at: at })
    .onConflict(['report_id', 'user_id'])
    .ignore();
  const mail = await deps.db('weekly_report_mails').where({ report_id: report.id, user_id: tenant.userId }).first('id');
  return trackingToken(deps.keyring.tracking.current, 'weekly-report', mail.id);
}
