import type { Page } from 'playwright-core';
import { hashPassword } from '../../lib/crypto.ts';
import type { Tenant } from './factories.ts';
import { createApplication, createPublicClient, pkce, type TestClient } from './oauth.ts';
import { PASSWORD } from './people.ts';
import type { World } from './world.ts';

/** Creates a tenant whose owner can sign in with {@link PASSWORD}. */
export async function tenantWithPassword(world: World, name?: string): Promise<Tenant> {
  const tenant = await world.tenant(name);
  await world.deps
    .db('users')
    .where('id', tenant.userId)
    .update({ password_hash: await hashPassword(PASSWORD) });
  return tenant;
}

/** Creates an application of a tenant with `redirectUri`; with `self_registered` a public one without a workspace. */
export function createApp(
  world: World,
  tenant: Tenant,
  redirectUri: string,
  fields: Record<string, unknown> = {},
): Promise<TestClient> {
  const row = { name: 'Sample App', redirect_uris: [redirectUri], ...fields };
  return fields.self_registered
    ? createPublicClient(world.deps, row)
    : createApplication(world.deps, tenant.organizationId, row);
}

/** Returns the URL of an authorization request; undefined values are omitted. */
export function authorizeAddress(
  world: World,
  app: { clientId: string },
  redirectUri: string,
  fields: Record<string, string | undefined> = {},
): string {
  const parameters = {
    response_type: 'code',
    client_id: app.clientId,
    redirect_uri: redirectUri,
    scope: 'read_campaigns write_campaigns',
    state: 'af0ifjsldkj',
    code_challenge: pkce().challenge,
    code_challenge_method: 'S256',
    ...fields,
  };
  const sent = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return `${world.url}/oauth/authorize?${new URLSearchParams(sent).toString()}`;
}

/** Fills in the sign-in form of the browser's current page. */
export async function signInOn(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}
