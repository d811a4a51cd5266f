import test from 'ava';
import * as oauth from 'oauth4webapi';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';
import { approveAuthorization, readAuthorizationRequest } from '../../../domain/identity/oauth/authorize.ts';
import { CALLBACK, createApplication, personCtx } from '../../../test/harness/oauth.ts';

let world: World;
test.before(async () => {
  world = await createWorld({ ownAddress: true });
});
test.after.always(() => world?.close());

const insecure = { [oauth.allowInsecureRequests]: true };

async function discover(): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(world.url);
  return oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
  );
}

/** Grants access as the person, without the consent screen, which other tests open in a browser. */
async function consent(person: { userId: string; organizationId: string }, url: URL): Promise<URL> {
  const request = await readAuthorizationRequest(world.deps, url.searchParams);
  if (request.kind !== 'request') throw new Error(JSON.stringify(request));
  return new URL((await approveAuthorization(personCtx(world.deps, person), request, request.scopes)).location);
}

function authorizationUrl(as: oauth.AuthorizationServer, parameters: Record<string, string>): URL {
  const url = new URL(as.authorization_endpoint!);
  for (const [name, value] of Object.entries({ response_type: 'code', redirect_uri: CALLBACK, ...parameters }))
    url.searchParams.set(name, value);
  return url;
}

test('oauth4webapi goes from discovery to revocation as a client that registers itself', async (t) => {
  const tenant = await world.tenant();
  const resource = new URL(world.url);
  const protectedBy = await oauth.processResourceDiscoveryResponse(
    resource,
    await oauth.resourceDiscoveryRequest(resource, insecure),
  );
  t.deepEqual(protectedBy.authorization_servers, [world.url]);
  const as = await discover();
  const client = await oauth.processDynamicClientRegistrationResponse(
    await oauth.dynamicClientRegistrationRequest(
      as,
      {
        client_name: 'Standard',
        redirect_uris: [CALLBACK],
        token_endpoint_auth_method: 'none',
        scope: 'read_contacts write_contacts',
      },
      insecure,
    ),
  );
  t.regex(client.client_id, /^sscid_/);
  t.is(client.scope, 'read_contacts write_contacts');

  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const back = await consent(
    tenant,
    authorizationUrl(as, {
      client_id: client.client_id,
      scope: 'read_contacts',
      state,
      resource: protectedBy.resource,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }),
  );
  const parameters = oauth.validateAuthResponse(as, client, back, state);
  const granted = await oauth.authorizationCodeGrantRequest(
    as,
    client,
    oauth.None(),
    parameters,
    CALLBACK,
    verifier,
    insecure,
  );
  t.is(granted.headers.get('cache-control'), 'no-store');
  const tokens = await oauth.processAuthorizationCodeResponse(as, client, granted);
  t.is(tokens.expires_in, 3600);
  t.is(tokens.scope, 'read_contacts');
  t.regex(tokens.access_token, /^ssat_/);
  t.regex(tokens.refresh_token!, /^ssrt_/);
  t.is(
    (
      await oauth.protectedResourceRequest(
        tokens.access_token,
        'GET',
        new URL('/v1/contacts', world.url),
        undefined,
        undefined,
        insecure,
      )
    ).status,
    200,
  );

  const next = await oauth.processRefreshTokenResponse(
    as,
    client,
    await oauth.refreshTokenGrantRequest(as, client, oauth.None(), tokens.refresh_token!, insecure),
  );
  t.not(next.refresh_token, tokens.refresh_token);
  assertStatus(t, await call(world, 'GET', '/v1/contacts', { token: next.access_token }), 200);

  await oauth.processRevocationResponse(
    await oauth.revocationRequest(as, client, oauth.None(), next.refresh_token!, insecure),
  );
  world.actors.forget();
  for (const token of [tokens.access_token, next.access_token])
    assertStatus(t, await call(world, 'GET', '/v1/contacts', { token }), 401);
  const error = await t.throwsAsync(
    async () =>
      oauth.processRefreshTokenResponse(
        as,
        client,
        await oauth.refreshTokenGrantRequest(as, client, oauth.None(), next.refresh_token!, insecure),
      ),
    { instanceOf: oauth.ResponseBodyError },
  );
  t.is(error?.error, 'invalid_grant');
});

for (const [name, authenticate] of [
  ['HTTP Basic', oauth.ClientSecretBasic],
  ['a form field', oauth.ClientSecretPost],
] as const) {
  test(`oauth4webapi works as a confidential client with ${name}, without PKCE`, async (t) => {
    const tenant = await world.tenant();
    const application = await createApplication(world.deps, tenant.organizationId);
    const client: oauth.Client = { client_id: application.clientId };
    const as = await discover();
    const back = await consent(
      tenant,
      authorizationUrl(as, { client_id: client.client_id, scope: 'read_contacts send_campaigns', state: 'a b&c' }),
    );
    const parameters = oauth.validateAuthResponse(as, client, back, 'a b&c');
    const tokens = await oauth.processAuthorizationCodeResponse(
      as,
      client,
      await oauth.authorizationCodeGrantRequest(
        as,
        client,
        authenticate(application.secret),
        parameters,
        CALLBACK,
        oauth.nopkce,
        insecure,
      ),
    );
    t.is(tokens.scope, 'send_campaigns read_contacts');
    const next = await oauth.processRefreshTokenResponse(
      as,
      client,
      await oauth.refreshTokenGrantRequest(as, client, authenticate(application.secret), tokens.refresh_token!, {
        additionalParameters: { scope: 'read_contacts' },
        ...insecure,
      }),
    );
    t.is(next.scope, 'read_contacts');
    const refused = await t.throwsAsync(async () =>
      oauth.processRefreshTokenResponse(
        as,
        client,
        await oauth.refreshTokenGrantRequest(as, client, authenticate('sscs_wrong'), next.refresh_token!, insecure),
      ),
    );
    t.true(
      refused instanceof oauth.WWWAuthenticateChallengeError ||
        (refused instanceof oauth.ResponseBodyError && refused.error === 'invalid_client'),
      String(refused),
    );
  });
}
