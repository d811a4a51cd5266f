/** Tests every provider against a fake server that works, is busy, down or slow, or refuses. */
import test from 'ava';
import { createEgress } from '../../../../lib/egress/index.ts';
import { verifySignature } from '../../../../lib/signature.ts';
import { startDoubles, type Doubles } from '../../../../test/doubles/all.ts';
import { crmsOf } from '../../../../test/harness/crm-doubles.ts';
import { startReceiver } from '../../../../test/harness/receiver.ts';
import { testConfig } from '../../../../test/harness/world.ts';
import { openCall, type CallDeps, type CallSubject } from '../call.ts';
import { PROVIDERS } from '../catalogue.ts';
import { accountBase, requestProviderTokens, requireClient } from '../tokens.ts';
import {
  RateLimited,
  ReauthRequired,
  Refused,
  Unavailable,
  type ActionInput,
  type ContactRecord,
  type InboundRequest,
  type Provider,
  type ProviderCall,
} from './provider.ts';

const REDIRECT = 'https://heron.test/integrations/oauth/callback';
const SIGNING_SECRET = 'whsec_of-the-connection';
const BACK_SLASH = '\\';

/** A name with characters that are special in several services, as a stranger could choose it. */
const HOSTILE = `O'Hara${BACK_SLASH} "<!channel>" @everyone <@123> =HYPERLINK("http://evil.test") {{.email}} [x](https://evil.test) 🦩`;

let doubles: Awaited<ReturnType<typeof startDoubles>>;
let deps: CallDeps;

test.before(async () => {
  doubles = await startDoubles();
  // The fake servers have no rate limits in these tests, because another test checks the limits.
  for (const double of allDoubles()) double.limit(undefined);
  const config = testConfig('postgres://127.0.0.1/none', doubles.env);
  deps = { config, egress: createEgress({ allowUnsafe: true }), clock: { now: () => new Date() } };
});
test.after.always(async () => {
  await deps.egress.close();
  await doubles.closeAll();
});

/** Test case for a provider with an action. */
interface Case {
  config?: () => Record<string, unknown>;
  verb: string;
  actionConfig?: () => Record<string, unknown>;
  done: () => number;
  /** True if a repetition of the action has no further effect. */
  converges?: true;
  /** Expected delay (ms) after a response with status 429 and a delay of 7 seconds. */
  waitMs?: number;
}

const CASES: { [id in keyof Doubles]?: Case } = {
  hubspot: { verb: 'upsert_contact', done: () => doubles.hubspot.contacts.length, converges: true },
  salesforce: {
    verb: 'upsert_contact',
    done: () => doubles.salesforce.records.Contact.length,
    converges: true,
    // Salesforce's response names no delay, so a fixed delay is used.
    waitMs: 900_000,
  },
  pipedrive: { verb: 'upsert_contact', done: () => doubles.pipedrive.persons.length, converges: true },
  close: {
    config: () => ({ api_key: doubles.close.keys[0] }),
    verb: 'upsert_contact',
    done: () => doubles.close.contacts.length,
    converges: true,
  },
  zapier: {
    config: () => ({ webhook_url: doubles.zapier.hookUrl }),
    verb: 'send_webhook',
    done: () => doubles.zapier.taken.length,
  },
  make: {
    config: () => ({ webhook_url: doubles.make.hookUrl }),
    verb: 'send_webhook',
    done: () => doubles.make.taken.length,
  },
  n8n: {
    config: () => ({ webhook_url: doubles.n8n.hookUrl }),
    verb: 'send_webhook',
    done: () => doubles.n8n.taken.length,
  },
  slack: {
    verb: 'notify',
    actionConfig: () => ({ channel: '#sales' }),
    done: () => doubles.slack.messages.length,
  },
  discord: {
    config: () => ({
      webhook_url: `https://discord.com/api/webhooks/${doubles.discord.webhook.id}/${doubles.discord.webhook.token}`,
    }),
    verb: 'notify',
    done: () => doubles.discord.messages.length,
  },
  google_sheets: {
    verb: 'append_row',
    actionConfig: () => ({
      spreadsheet: `https://docs.google.com/spreadsheets/d/${doubles.google_sheets.spreadsheetId}/edit#gid=0`,
      sheet: 'Replies',
    }),
    done: () => doubles.google_sheets.sheets.Replies!.length,
  },
};

test('the catalogue has every provider once, with actions, or bookings, that exist', (t) => {
  t.deepEqual(
    PROVIDERS.map(({ id }) => id).toSorted(),
    Object.keys(doubles)
      .filter((id) => id in doubles && id !== 'env' && id !== 'closeAll')
      .toSorted(),
  );
  for (const provider of PROVIDERS) {
    t.is(Boolean(provider.oauth), provider.authMethod === 'oauth', provider.id);
    t.is(Boolean(provider.credentials), provider.authMethod !== 'oauth', provider.id);
    t.true(Object.keys(provider.actions).length > 0 || provider.inbound !== undefined, provider.id);
    t.is(Boolean(provider.push), provider.category === 'crm', provider.id);
  }
});

for (const [id, one] of Object.entries(CASES) as [keyof Doubles, Case][]) {
  test.serial(`${id}: connects, acts, and reports limits, outages and lost answers as what they are`, async (t) => {
    const double = doubles[id];
    const { provider, call } = await connect(id);
    const act = (contact?: Partial<ActionInput>) =>
      perform(provider, call, one.verb, one.actionConfig?.() ?? {}, contact);
    const before = one.done();
    await act();
    t.is(one.done(), before + 1);

    double.fail({ kind: 'limited', retryAfterSeconds: 7 });
    const busy = await t.throwsAsync(act(), { instanceOf: RateLimited });
    t.is(busy.retryAfterMs, one.waitMs ?? 7_000);
    for (const kind of ['hang', 'broken', 'reset'] as const) {
      // Uses a long timeout for a provider that responds, because the machine can be busy.
      Object.assign(deps.config, { INTEGRATION_TIMEOUT_MS: kind === 'hang' ? 400 : 15_000 });
      double.fail({ kind });
      await t.throwsAsync(act(), { instanceOf: Unavailable }, kind);
    }
    t.is(one.done(), before + 1, 'none of these did anything');

    // The provider does the work, but its response is lost and the action is retried.
    const other = inputFor({ email: `lost@${id}.test` });
    double.fail(...faultsAtLast(double.calls().at(-1)!));
    await t.throwsAsync(act(other), { instanceOf: Unavailable });
    await act(other);
    const times = one.done() - before - 1;
    t.is(times, one.converges ? 1 : 2, 'seen at the provider');
    t.deepEqual(double.refusals, [], 'the provider refused nothing');
  });

  test.serial(`${id}: what a stranger wrote arrives as text`, async (t) => {
    const { provider, call } = await connect(id);
    doubles[id].clear();
    const before = one.done();
    const contact = { email: `o'hara+${id}@evil.test`, first_name: HOSTILE.slice(0, 39), company: HOSTILE };
    await perform(
      provider,
      call,
      one.verb,
      one.actionConfig?.() ?? {},
      inputFor(contact, { trigger: 'email.replied' }),
    );
    t.deepEqual(doubles[id].refusals, []);
    t.is(one.done(), before + 1);
    // Skips chat services, which escape the name. Another test checks this.
    if (providerOf(id).category === 'notifications') return;
    const asJson = JSON.stringify(contact.first_name).slice(1, -1);
    t.true(doubles[id].heard.some(({ raw }) => raw.includes(asJson)));
  });
}

test.serial('chats: a hostile name mentions nobody and makes no link; an own text keeps its format', async (t) => {
  const input = inputFor({ first_name: HOSTILE, email: 'x@evil.test' });
  const slack = await connect('slack');
  await perform(
    slack.provider,
    slack.call,
    'notify',
    { channel: 'sales', message: '<!here> *{{.contact.first_name}}*' },
    input,
  );
  const said = doubles.slack.messages.at(-1)!.text;
  t.deepEqual(doubles.slack.effects(said), ['<!here>'], said);
  t.false(said.includes('https://'), said);

  const discord = await connect('discord');
  await perform(discord.provider, discord.call, 'notify', { message: '@everyone **{{.first_name}}**' }, input);
  const { content, pings } = doubles.discord.messages.at(-1)!;
  t.deepEqual(pings, []);
  t.is(content.match(/@everyone/g)?.length, 1, 'the one of the text itself');
  t.false(/https:\/\/|(?<!\\)\[x|<@123>(?!\\)/.test(content), content);
  t.true(content.startsWith('@everyone **'));

  const long = { message: '{{.first_name}}' };
  await perform(discord.provider, discord.call, 'notify', long, inputFor({ first_name: '🦩'.repeat(3_000) }));
  t.is([...doubles.discord.messages.at(-1)!.content].at(-1), '…');
});

test.serial(
  'slack: a refusal with status 200 is a refusal; a token that ended is renewed, one that was revoked is not',
  async (t) => {
    const { provider, call } = await connect('slack');
    const notify = (channel: string) => perform(provider, call, 'notify', { channel });
    await t.throwsAsync(notify('#nowhere'), { instanceOf: Refused, message: /no such channel/ });
    await t.throwsAsync(notify('#old'), { instanceOf: Refused, message: /archived/ });
    const { refreshes } = doubles.slack.oauth;
    doubles.slack.oauth.expire();
    await notify('#sales');
    t.is(doubles.slack.oauth.refreshes, refreshes + 1);
    doubles.slack.oauth.revokeAll();
    await t.throwsAsync(notify('#sales'), { instanceOf: ReauthRequired });
  },
);

for (const id of ['hubspot', 'salesforce', 'pipedrive', 'google_sheets'] as const)
  test.serial(
    `${id}: a token that ended is renewed once, and a consent that was taken back needs a person`,
    async (t) => {
      const { oauth } = doubles[id];
      const { provider, call } = await connect(id);
      const { verb, actionConfig } = CASES[id]!;
      const act = () => perform(provider, call, verb, actionConfig?.() ?? {});
      oauth.expire();
      const { refreshes } = oauth;
      await act();
      await act();
      t.is(oauth.refreshes, refreshes + 1);
      oauth.revokeAll();
      await t.throwsAsync(act(), { instanceOf: ReauthRequired });
    },
  );

test.serial('credentials that are wrong are refused when they are pasted', async (t) => {
  const wrong: [keyof Doubles, Record<string, unknown>, object][] = [
    ['close', { api_key: 'api_wrong_wrong' }, { instanceOf: ReauthRequired }],
    ['calendly', { api_key: 'x'.repeat(40) }, { instanceOf: ReauthRequired }],
    ['cal_com', { api_key: 'cal_live_wrongwrong' }, { instanceOf: ReauthRequired }],
    [
      'discord',
      { webhook_url: `https://discord.com/api/webhooks/${doubles.discord.webhook.id}/wrong` },
      { instanceOf: ReauthRequired },
    ],
    [
      'discord',
      { webhook_url: 'https://discord.com/api/webhooks/1/wrong' },
      { instanceOf: Refused, message: /Unknown Webhook/ },
    ],
  ];
  for (const [id, config, expected] of wrong)
    await t.throwsAsync(providerOf(id).credentials!.validate(callOf(id, { config })), expected, id);
  const forms: [keyof Doubles, unknown][] = [
    ['zapier', { webhook_url: 'https://hooks.zapier.com.evil.test/hooks/catch/1/abc/' }],
    ['zapier', { webhook_url: 'http://hooks.zapier.com/hooks/catch/1/abc/' }],
    ['make', { webhook_url: 'javascript:alert(1)' }],
    ['n8n', { webhook_url: 'https://n8n.test/webhook-test/1' }],
    ['discord', { webhook_url: 'https://discord.com.evil.test/api/webhooks/1/a' }],
    ['cal_com', { api_key: 'sk_live' }],
    ['close', { api_key: 'api_wrong_wrong', more: true }],
  ];
  for (const [id, config] of forms)
    t.false(providerOf(id).credentials!.schema.safeParse(config).success, JSON.stringify(config));
});

for (const id of ['hubspot', 'salesforce', 'pipedrive', 'close'] as const) {
  test.serial(
    `${id}: contacts converge by email, notes and deals find their contact, unknown fields are named`,
    async (t) => {
      const crm = crmsOf(doubles)[id];
      const { provider, call } = await connect(id);
      const email = `mary.${id}@acme.test`;
      const defaults = Object.fromEntries(provider.push!.defaults.map(({ from, to }) => [to, SAMPLE[from]!]));
      const write = async (address: string, fields: Record<string, string>, record: ContactRecord = {}) => {
        await provider.push!.writeContact(call, { email: address, record }, fields);
        return record;
      };
      const externalId = (await write(email, defaults)).externalId!;
      const again = await write(email.toUpperCase(), { ...defaults, [crm.nameField]: '', ...crm.change });
      t.is(again.externalId, externalId);
      t.deepEqual(
        crm.people().filter((one) => one.email.toLowerCase() === email),
        [{ email, name: 'Mary Major', changed: 'Changed' }],
      );
      const known = await provider.push!.readFields!(call);
      t.deepEqual(
        [...Object.keys(defaults), ...Object.keys(crm.change)].filter(
          (name) => !known.some((field) => field.name === name && !field.readOnly),
        ),
        [],
      );

      // After the contact's address changes, the same record gets the note and keeps its other addresses.
      const record = { externalId: again.externalId!, email };
      const renamed = `mary.new.${id}@acme.test`;
      await perform(provider, call, 'log_activity', { text: 'hello' }, inputFor({ email: renamed }, { record }));
      t.deepEqual(record, { externalId: again.externalId!, email: renamed });
      const marys = () => crm.people().flatMap((one) => (/^mary/i.test(one.email) ? [one.email.toLowerCase()] : []));
      t.deepEqual(marys(), [renamed]);
      t.is(crm.note().about, crm.idIn(again.externalId!));
      await write(email, defaults, record);
      t.deepEqual(marys(), [email]);
      // A record that was deleted in the CRM is created again.
      const gone = { externalId: crm.noId, email: 'gone@acme.test' };
      await write('gone.new@acme.test', defaults, gone);
      t.not(gone.externalId, crm.noId);
      t.is(crm.people().filter((one) => one.email === 'gone.new@acme.test').length, 1);

      doubles[id].clear();
      const input = inputFor({ email }, { data: { subject: 'Re: <b>hello</b>' } });
      const act = (verb: string, config: object, given = input) => perform(provider, call, verb, config, given);
      await act('log_activity', { text: '{{.trigger}}: {{.subject}}' });
      await act('create_deal', { name: 'Deal with {{.company}}', amount: '1200.50', ...crm.deal });
      await act('update_contact', { fields: { [Object.keys(crm.change)[0]!]: 'By {{.first_name}}' } });
      t.deepEqual(doubles[id].refusals, []);
      t.is(crm.people().find((one) => one.email === email)!.changed, 'By Jane');
      t.deepEqual(crm.note(), { about: crm.idIn(externalId), text: crm.noteText });
      t.deepEqual(crm.dealMade(), { about: crm.idIn(externalId), name: 'Deal with Acme', amount: crm.amount });

      // Logging an activity creates a missing contact. An update does not.
      await act('log_activity', { text: 'Hello' }, inputFor({ email: `new.${id}@acme.test` }));
      t.true(crm.people().some((one) => one.email === `new.${id}@acme.test`));
      await t.throwsAsync(act('update_contact', { fields: { x: 'y' } }, inputFor({ email: 'none@acme.test' })), {
        instanceOf: Refused,
        message: /no contact/,
      });
      await t.throwsAsync(act('update_contact', { fields: { no_such_field: 'y' } }), {
        instanceOf: Refused,
        message: /no_such_field/,
      });
    },
  );
}

test.serial('hubspot: what ends a consent there, and a scope that was not granted', async (t) => {
  const { provider, call, tokens } = await connect('hubspot');
  await provider.oauth!.revoke!(call, String(tokens.refresh_token));
  t.true(doubles.hubspot.oauth.revoked.includes(String(tokens.refresh_token)));
  await provider.oauth!.revoke!(call, String(tokens.refresh_token));
  const narrow = await connect('hubspot', ['oauth', 'crm.objects.contacts.read']);
  await t.throwsAsync(perform(provider, narrow.call, 'upsert_contact', {}), { instanceOf: Refused, message: /scopes/ });
});

test.serial(
  'webhooks: signed with the secret of the connection, the same id when sent again; a hook that is gone is refused',
  async (t) => {
    for (const id of ['zapier', 'make', 'n8n'] as const) {
      const { provider, call } = await connect(id);
      const input = inputFor({}, { trigger: 'email.replied', data: { intent: 'interested' } });
      await perform(provider, call, 'send_webhook', {}, input);
      await perform(provider, call, 'send_webhook', {}, input);
      const [first, second] = doubles[id].taken.slice(-2);
      t.is(first!.raw, second!.raw);
      t.like(first!.body, {
        id: input.deliveryId,
        event: 'email.replied',
        test: false,
        data: { intent: 'interested' },
      });
      const signature = String(first!.headers['x-service-signature']);
      t.true(verifySignature(signature, SIGNING_SECRET, first!.raw, { now: new Date() }));
      t.false(verifySignature(signature, SIGNING_SECRET, `${first!.raw} `, { now: new Date() }));
      doubles[id].remove();
      await t.throwsAsync(perform(provider, call, 'send_webhook', {}, input), { instanceOf: Refused }, id);
    }
  },
);

test.serial(
  'google_sheets: nothing becomes a formula; a sheet or spreadsheet that is not there is named',
  async (t) => {
    const { provider, call } = await connect('google_sheets');
    const { spreadsheetId: spreadsheet } = doubles.google_sheets;
    const append = (config: object) =>
      perform(provider, call, 'append_row', config, inputFor({ company: '=IMPORTXML("http://evil.test")' }));
    await append({ spreadsheet, columns: ['{{.company}}', '+{{.email}}'] });
    t.deepEqual(doubles.google_sheets.sheets.Sheet1!.at(-1), ['=IMPORTXML("http://evil.test")', '+jane@acme.test']);
    t.deepEqual(doubles.google_sheets.formulas, []);
    await t.throwsAsync(append({ spreadsheet, sheet: "It's gone" }), {
      instanceOf: Refused,
      message: /Unable to parse range/,
    });
    await t.throwsAsync(append({ spreadsheet: 'x'.repeat(44) }), {
      instanceOf: Refused,
      message: /no such spreadsheet/,
    });
  },
);

for (const id of ['calendly', 'cal_com'] as const)
  test.serial(
    `${id}: bookings are read, moves name what they replace, strangers and old webhooks are not believed`,
    async (t) => {
      const receiver = await startReceiver();
      const { provider, call } = await connect(id);
      const inbound = provider.inbound!;
      const { externalId } = await inbound.register!(call, { url: `${receiver.url}/in`, secret: SIGNING_SECRET });
      await t.throwsAsync(inbound.register!(call, { url: `${receiver.url}/in`, secret: 'other' }), {
        instanceOf: Refused,
      });

      const double = doubles[id];
      const startsAt = new Date('2026-12-01T09:00:00Z');
      const booking = double.book({ email: 'Lea@Acme.test', name: HOSTILE, startsAt });
      const moved = double.reschedule(booking as never, new Date('2026-12-02T10:00:00Z'));
      double.cancel(moved as never, 'No time');
      await double.deliver();
      const requests: InboundRequest[] = receiver.requests.map(({ headers, raw }) => ({
        headers: headers as Record<string, string>,
        rawBody: raw,
        secret: SIGNING_SECRET,
        now: new Date(),
      }));
      t.true(requests.every((request) => inbound.verify(request)));
      const [request] = requests as [InboundRequest];
      t.false(inbound.verify({ ...request, secret: 'another' }));
      t.false(inbound.verify({ ...request, rawBody: Buffer.concat([request.rawBody, Buffer.from(' ')]) }));
      t.false(inbound.verify({ ...request, headers: {} }));
      t.false(inbound.verify({ ...request, now: new Date(Date.now() + 2 * 3_600_000) }), 'too old');

      const news = requests.map(({ rawBody }) => inbound.readBooking(JSON.parse(rawBody.toString())));
      const told = news.filter((one) => one !== undefined);
      t.deepEqual(
        told.map(({ kind }) => kind),
        ['booked', 'rescheduled', 'canceled'],
      );
      const [booked, again, canceled] = told as [
        NonNullable<(typeof news)[0]>,
        NonNullable<(typeof news)[0]>,
        NonNullable<(typeof news)[0]>,
      ];
      t.like(booked, { inviteeEmail: 'Lea@Acme.test', inviteeName: HOSTILE, scheduledFor: startsAt });
      t.true(booked.joinUrl.startsWith('https://'));
      t.is(again.replaces, booked.externalEventId);
      t.is(canceled.externalEventId, again.externalEventId);
      t.is(canceled.canceledReason, 'No time');

      t.is(
        inbound.readBooking({ event: 'routing_form_submission.created', triggerEvent: 'FORM_SUBMITTED' }),
        undefined,
      );
      for (const body of [null, [], { event: 'invitee.created', triggerEvent: 'BOOKING_CREATED', payload: {} }])
        t.throws(() => inbound.readBooking(body), { instanceOf: Refused });
      await inbound.unregister!(call, externalId);
      await inbound.unregister!(call, externalId);
      double.book({ email: 'x@acme.test', name: 'X', startsAt });
      t.deepEqual(await double.deliver(), []);
      await receiver.stop();
    },
  );

test.serial('calendly: an account without webhooks says so', async (t) => {
  const { provider, call } = await connect('calendly');
  doubles.calendly.paid = false;
  await t.throwsAsync(provider.inbound!.register!(call, { url: 'https://heron.test/in', secret: 's' }), {
    instanceOf: Refused,
    message: /upgrade your Calendly/,
  });
  doubles.calendly.paid = true;
});

test.serial('slack: a token that was revoked is found without a message', async (t) => {
  const { provider, call } = await connect('slack');
  const said = doubles.slack.messages.length;
  await provider.check!(call);
  doubles.slack.oauth.revokeAll();
  await t.throwsAsync(provider.check!(call), { instanceOf: ReauthRequired });
  t.is(doubles.slack.messages.length, said);
});

const SAMPLE: Record<string, string> = {
  first_name: 'Mary',
  last_name: 'Major',
  company: 'Acme',
  phone: '+33 1 23 45 67 89',
};

function allDoubles() {
  return PROVIDERS.map(({ id }) => doubles[id]);
}

function providerOf(id: keyof Doubles): Provider {
  return PROVIDERS.find((provider) => provider.id === id)!;
}

function callOf(id: keyof Doubles, subject: CallSubject): ProviderCall {
  return openCall(deps, providerOf(id), { signingSecret: SIGNING_SECRET, ...subject });
}

/**
 * Connects an account as the routes do, without a database: by consent and code, or by pasted and checked credentials.
 */
async function connect(id: keyof Doubles, scopes = providerOf(id).oauth?.scopes) {
  const provider = providerOf(id);
  doubles[id].clear();
  if (!provider.oauth) {
    const config = provider.credentials!.schema.parse(credentialsOf(id));
    await provider.credentials!.validate(callOf(id, { config }));
    return { provider, call: callOf(id, { config }), tokens: {} as Record<string, unknown> };
  }
  const double = doubles[id] as Doubles['hubspot'];
  const client = requireClient(deps.config, provider);
  const verifier = 'v'.repeat(64);
  const authorize = new URL(client.authorizeUrl);
  authorize.search = new URLSearchParams({
    client_id: client.clientId,
    response_type: 'code',
    redirect_uri: REDIRECT,
    state: 'state',
    ...(scopes!.length > 0 ? { scope: scopes!.join(provider.oauth.scopeSeparator ?? ' ') } : {}),
    ...provider.oauth.parameters,
    ...(provider.oauth.pkce ? { code_challenge: await challengeOf(verifier), code_challenge_method: 'S256' } : {}),
  }).toString();
  const code = new URL(double.oauth.consent(authorize.href)).searchParams.get('code')!;
  let tokens = await requestProviderTokens(deps, provider, client, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT,
    ...(provider.oauth.pkce ? { code_verifier: verifier } : {}),
  });
  const first = tokens;
  const subject: CallSubject = {
    apiBase: accountBase(client, tokens) ?? null,
    accessToken: async () => String(tokens.access_token),
    refresh: async () => {
      const form = { grant_type: 'refresh_token', refresh_token: String(tokens.refresh_token) };
      tokens = { ...tokens, ...(await requestProviderTokens(deps, provider, client, form)) };
      return String(tokens.access_token);
    },
  };
  await provider.oauth.readAccount(callOf(id, subject), tokens);
  return { provider, call: callOf(id, subject), tokens: first };
}

function credentialsOf(id: keyof Doubles): Record<string, unknown> {
  if (id === 'calendly') return { api_key: doubles.calendly.token };
  if (id === 'cal_com') return { api_key: doubles.cal_com.key };
  return CASES[id]!.config!();
}

async function challengeOf(verifier: string): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(verifier))).toString('base64url');
}

let deliveries = 0;
function inputFor(
  contact: Partial<NonNullable<ActionInput['contact']>> = {},
  more: Partial<ActionInput> = {},
): ActionInput {
  deliveries += 1;
  const person = {
    id: '01990000-0000-7000-8000-000000000001',
    email: 'jane@acme.test',
    first_name: 'Jane',
    last_name: 'Doe',
    company: 'Acme',
    phone: '',
    custom_fields: {},
    ...contact,
  };
  return {
    config: {},
    deliveryId: `01990000-0000-7000-8000-${String(deliveries).padStart(12, '0')}`,
    trigger: 'email.replied',
    data: {},
    occurredAt: new Date(),
    contact: person,
    record: {},
    fields: {},
    isTest: false,
    ...more,
  };
}

/** Performs an action as the worker does: the config is parsed by its schema, and the contact mapped by default. */
async function perform(
  provider: Provider,
  call: ProviderCall,
  verb: string,
  config: object,
  given: Partial<ActionInput> = {},
) {
  const input = { ...inputFor(), ...given };
  const action = provider.actions[verb]!;
  const contact = input.contact as unknown as Record<string, string>;
  const fields = Object.fromEntries((provider.push?.defaults ?? []).map(({ from, to }) => [to, contact[from] ?? '']));
  await action.perform(call, { ...input, fields, config: action.config.parse(config) });
}

/**
 * Returns faults by which the response to the request that does the work is lost, but not the responses to earlier
 * look-ups.
 */
function faultsAtLast(call: string) {
  return [{ kind: 'lost' as const, match: call }];
}
