import test from 'ava';
import { accountBase, type OAuthClient } from './tokens.ts';
import { findProvider } from './registry.ts';

/** The provider as the installation speaks to it, with a token endpoint of the operator's. */
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
