import test from 'ava';
import { createEgress } from '../../../lib/egress/index.ts';
import { systemClock } from '../../../lib/clock.ts';
import { loadConfig } from '../../../lib/config/index.ts';
import { startReceiver } from '../../../test/harness/receiver.ts';
import { ReauthRequired, Refused, Unavailable } from './providers/provider.ts';
import { accountBase, requestProviderTokens, type OAuthClient } from './tokens.ts';
import { findProvider } from './registry.ts';

/** Builds a provider's OAuth client with a token endpoint set by the operator. */
const client = (id: string, tokenUrl: string) => ({ oauth: findProvider(id)!.oauth!, tokenUrl }) as OAuthClient;
const salesforce = client('salesforce', 'https://login.salesforce.com/services/oauth2/token');

test("an account's tokens go to the provider's own hosts, whatever the answer of its token endpoint names", (t) => {
  const base = (named: unknown) => accountBase(salesforce, { instance_url: named });
  t.is(base('https://acme.my.salesforce.com'), 'https://acme.my.salesforce.com');
  t.is(base('https://login.salesforce.com/'), 'https://login.salesforce.com');
  for (const named of [
    'https://evil.example.com',
    'https://salesforce.com.evil.example.com',
    'https://evil-salesforce.com',
    'https://acme.my.salesforce.com@evil.example.com',
    'https://evil.example.com/.salesforce.com',
    'http://acme.my.salesforce.com',
    'https://acme.my.salesforce.com:8443',
    'https://169.254.169.254',
    'https://\u0455alesforce.com',
    'javascript:alert(1)',
    'nonsense',
  ])
    t.is(base(named), null, named);
  for (const none of [undefined, null, '', 7, {}]) t.is(base(none), undefined);
});

test('a host that the operator has set as token endpoint is trusted, and a provider without accounts of its own has no base', (t) => {
  const own = client('pipedrive', 'http://127.0.0.1:8080/oauth/token');
  t.is(accountBase(own, { api_domain: 'http://127.0.0.1:8080' }), 'http://127.0.0.1:8080');
  t.is(accountBase(own, { api_domain: 'http://127.0.0.1:8081' }), null);
  t.is(accountBase(own, { api_domain: 'https://acme.pipedrive.com' }), 'https://acme.pipedrive.com');
  t.is(accountBase(client('hubspot', 'https://api.hubapi.com/oauth/v1/token'), { api_domain: 'x' }), undefined);
});

test('a consent has ended only where its provider says so, in whatever words: not for a trouble on the way, or with our own client', async (t) => {
  const receiver = await startReceiver();
  const deps = { egress: createEgress({ allowUnsafe: true }), config: loadConfig({}), clock: systemClock };
  t.teardown(() => Promise.all([receiver.stop(), deps.egress.close()]));
  const provider = findProvider('slack')!;
  const ours = { ...client('slack', `${receiver.url}/token`), clientId: 'id', clientSecret: 'secret' };
  const refresh = () =>
    requestProviderTokens(deps, provider, ours, { grant_type: 'refresh_token', refresh_token: 'old' });
  const cases = [
    [400, { error: 'invalid_grant' }, ReauthRequired],
    [400, { status: 'BAD_REFRESH_TOKEN' }, ReauthRequired],
    [200, { ok: false, error: 'invalid_refresh_token' }, ReauthRequired],
    [400, { error: 'invalid_client' }, Refused],
    [200, { ok: false, error: 'bad_client_secret' }, Refused],
    [400, { status: 'BAD_CLIENT_ID' }, Refused],
    [200, { ok: false, error: 'internal_error' }, Unavailable],
    [200, { ok: false, error: 'ratelimited' }, Unavailable],
    [400, { error: 'rate_limit_exceeded' }, Unavailable],
    [400, { error: 'temporarily_unavailable' }, Unavailable],
    [403, '<html>Attention Required!</html>', Unavailable],
    [404, '', Unavailable],
    [302, '', Unavailable],
    [200, '<html>Back soon</html>', Unavailable],
    [200, { access_token: '' }, Unavailable],
    [429, { error: 'invalid_grant' }, Unavailable],
    [503, { error: 'invalid_grant' }, Unavailable],
  ] as const;
  for (const [status, body, kind] of cases) {
    receiver.respond({ status, body });
    await t.throwsAsync(refresh(), { any: true, instanceOf: kind }, `${status} ${JSON.stringify(body)}`);
  }
  receiver.respond({ status: 200, body: { access_token: 'new' } });
  t.is((await refresh()).access_token, 'new');
});
