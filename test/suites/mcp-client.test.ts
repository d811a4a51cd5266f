import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthTokens,
} from '@modelcontextprotocol/client';
import test from 'ava';
import { browserTests, findChromium, launchBrowser, type TestBrowser } from '../harness/browser.ts';
import { signInOn, tenantWithPassword } from '../harness/consent.ts';
import { startReceiver, type Receiver } from '../harness/receiver.ts';
import { createWorld, type World } from '../harness/world.ts';

const browserTest = browserTests(test);

let world: World;
let chrome: TestBrowser;
/** Loopback server of the client program, which receives the code from the browser. */
let loopback: Receiver;
test.before(async () => {
  world = await createWorld({ ownAddress: true, env: { AUTH_LOGIN_CODE: 'off' } });
  loopback = await startReceiver({ respond: { status: 200, body: 'You can close this window.' } });
  if (findChromium()) chrome = await launchBrowser();
});
test.after.always(async () => {
  await chrome?.close();
  await loopback?.stop();
  await world?.close();
});

/** Creates a client program that knows only the URL of the MCP endpoint, and keeps received data in memory. */
function createProgram(path: string) {
  let client: OAuthClientInformationMixed | undefined;
  let tokens: OAuthTokens | undefined;
  let verifier = '';
  let authorization: URL | undefined;
  const provider: OAuthClientProvider = {
    redirectUrl: `${loopback.url}/callback`,
    clientMetadata: {
      client_name: 'Agent <of> somebody',
      redirect_uris: [`${loopback.url}/callback`],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    state: () => 'state-of-the-program',
    clientInformation: () => client,
    saveClientInformation: (information) => void (client = information),
    tokens: () => tokens,
    saveTokens: (saved) => void (tokens = saved),
    redirectToAuthorization: (url) => void (authorization = url),
    saveCodeVerifier: (text) => void (verifier = text),
    codeVerifier: () => verifier,
    invalidateCredentials(scope) {
      if (scope === 'all' || scope === 'client') client = undefined;
      if (scope === 'all' || scope === 'tokens') tokens = undefined;
    },
  };
  return {
    get tokens() {
      return tokens;
    },
    /** Returns the authorization URL that the person must open; undefined if none was requested since the last call. */
    takeAuthorization() {
      const url = authorization;
      authorization = undefined;
      return url;
    },
    async connect(answer?: URLSearchParams) {
      const transport = new StreamableHTTPClientTransport(new URL(path, world.url), { authProvider: provider });
      if (answer) await transport.finishAuth(answer);
      const mcp = new Client({ name: 'agent', version: '1.0.0' });
      await mcp.connect(transport);
      return mcp;
    },
  };
}

for (const path of ['/mcp', '/v1/mcp']) {
  browserTest(
    `an MCP client that knows only ${path} finds its way: discovery, registration, consent, tokens, tools, refresh, the end`,
    async (t) => {
      const tenant = await tenantWithPassword(world, 'Agents at work');
      const program = createProgram(path);
      await t.throwsAsync(program.connect(), { instanceOf: UnauthorizedError });
      const authorization = program.takeAuthorization()!;
      t.is(authorization.origin + authorization.pathname, `${world.url}/oauth/authorize`);

      const { page, context } = await chrome.visit();
      await page.goto(authorization.href);
      await signInOn(page, tenant.email);
      await page.getByRole('heading', { name: 'Agent <of> somebody asks for access' }).waitFor();
      const text = await page.getByRole('main').innerText();
      t.regex(text, /Not verified/);
      t.true(text.includes(new URL(loopback.url).host));
      t.false(
        /sends real emails|Manage API keys/.test(text),
        'what a client that registered itself can never have is not asked for',
      );
      await page.getByLabel('Create, change and delete contacts').uncheck();
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.waitForURL((url) => url.origin === loopback.url);
      const { searchParams } = new URL(page.url());
      t.is(searchParams.get('state'), 'state-of-the-program');
      t.is(searchParams.get('iss'), world.url);

      const mcp = await program.connect(searchParams);
      const { tools } = await mcp.listTools();
      const names = tools.map((tool) => tool.name);
      for (const name of ['list_mailboxes', 'list_campaigns', 'search_contacts', 'create_campaign_draft'])
        t.true(names.includes(name), name);
      for (const name of ['add_contacts', 'start_campaign']) t.false(names.includes(name), `${name} was not granted`);
      const draft = await mcp.callTool({ name: 'create_campaign_draft', arguments: { name: 'By an agent' } });
      t.falsy(draft.isError);
      const row = await world.deps
        .db('campaigns')
        .where({ organization_id: tenant.organizationId, name: 'By an agent' })
        .first('status');
      t.is(row.status, 'draft');
      t.true(
        (
          await mcp
            .callTool({ name: 'list_campaigns', arguments: {} })
            .then((result) => JSON.stringify(result.structuredContent))
        ).includes('By an agent'),
      );

      // The access token has expired: the client refreshes it automatically and continues.
      const before = program.tokens!;
      await world.deps
        .db('oauth_tokens')
        .where('kind', 'access')
        .whereIn('grant_id', world.deps.db('oauth_grants').where('user_id', tenant.userId).select('id'))
        .update({ expires_at: new Date(Date.now() - 1000) });
      world.actors.forget();
      t.falsy((await mcp.callTool({ name: 'list_campaigns', arguments: {} })).isError);
      t.not(program.tokens!.access_token, before.access_token);
      t.not(program.tokens!.refresh_token, before.refresh_token);
      t.is(program.takeAuthorization(), undefined, 'the person was not asked again');

      const tab = await context.newPage();
      await tab.goto(`${world.url}/account/apps`);
      await tab.getByRole('button', { name: 'Revoke access of Agent <of> somebody to Agents at work' }).click();
      await tab.getByText('No app has access').waitFor();
      world.actors.forget();
      await t.throwsAsync(mcp.callTool({ name: 'list_campaigns', arguments: {} }), { instanceOf: UnauthorizedError });
      t.truthy(program.takeAuthorization(), 'the person is asked anew');
      await mcp.close();
      await context.close();
    },
  );
}
