import test from 'ava';
import { preflightCampaign } from '../../domain/campaigns/preflight.ts';
import { readCampaignDns } from '../../domain/campaigns/preflight-dns.ts';
import type { DnsRecords } from '../../lib/dns.ts';
import { DAY_MS } from '../../lib/clock.ts';
import { newId } from '../../lib/ids.ts';
import { openDesk, type Desk } from '../../test/harness/campaign-desk.ts';
import { call, createWorld, type World } from '../../test/harness/world.ts';

/**
 * DNS zone of the test's name server: records by type and name. A query for a name whose entry is null gets no answer.
 */
let zone: Record<string, string[] | null> = {};
const asked: string[] = [];
const ask = (type: string) => async (name: string) => {
  asked.push(`${type} ${name}`);
  const records = zone[`${type} ${name}`];
  return records === undefined ? [] : records;
};
const dns: DnsRecords = { txt: ask('TXT'), mx: ask('MX'), cname: ask('CNAME') };

const SOUND: Record<string, string[]> = {
  'TXT sound.example': ['v=spf1 include:_spf.sound.example ~all'],
  'TXT s1._domainkey.sound.example': ['v=DKIM1; p=MIIB'],
  'TXT _dmarc.sound.example': ['v=DMARC1; p=none'],
  'MX sound.example': ['mx.sound.example'],
};
const BODY =
  'Hi {{.FirstName}},\n\nI saw that {{.Company}} opened a second warehouse. We help teams of your size keep stock counts right. ' +
  'Would a call next week be of use?\n\nBest,\nAnna';

let world: World;
test.before(async () => {
  world = await createWorld({ dns });
});
test.after.always(() => world?.close());
test.beforeEach(() => {
  zone = { ...SOUND };
  asked.length = 0;
});

interface Found {
  check: string;
  code: string;
  severity: string;
  fix: string;
  message: string;
  step_id?: string;
}

async function prepared(body: object = {}, leads: Record<string, unknown>[] = [{}], mailbox: object = {}) {
  const desk = await openDesk(world);
  await desk.mailbox({ email: `${newId()}@sound.example`, campaign_limit: 40, ...mailbox });
  const campaign = await desk.campaign({
    steps: [{ subject: 'Stock counts', body_plain: BODY }],
    unsubscribe_header: true,
    daily_limit: 40,
    ...body,
  });
  const contacts: string[] = [];
  for (const lead of leads)
    contacts.push(await desk.contact({ first_name: 'Kim', company: 'Acme', verification_status: 'valid', ...lead }));
  if (contacts.length > 0) await desk.call('POST', `/campaigns/${campaign.id}/leads`, { contact_ids: contacts });
  return { desk, id: campaign.id as string, contacts };
}

async function preflight(desk: Desk, id: string) {
  const { status, body } = await desk.call('POST', `/campaigns/${id}/preflight`);
  const findings = body.findings as Found[];
  return {
    status,
    body,
    findings,
    codes: findings
      .filter(({ severity }) => severity !== 'info')
      .map(({ code }) => code)
      .sort(),
  };
}

test.serial('a report is stored as codes with values, and read in the language of the request', async (t) => {
  const { desk, id } = await prepared({}, []);
  const ask = async (name: string, language: string) =>
    (
      await call(world, 'POST', `/v1/campaigns/${id}/${name}`, {
        token: desk.tenant.apiKey,
        headers: { 'accept-language': language },
      })
    ).body;
  const said = (found: Found[]) => found.find(({ code }) => code === 'campaign_no_contacts');
  t.like(said((await ask('validate', 'en')).problems), { message: 'The campaign has never had a lead' });
  t.like(said((await ask('validate', 'de')).problems), { message: 'Die Kampagne hatte noch nie einen Lead' });
  const german = await ask('preflight', 'de');
  t.like(said(german.findings), {
    message: 'Die Kampagne hatte noch nie einen Lead',
    fix: 'Leads hinzufügen oder die Kampagne fortlaufend machen.',
    values: {},
  });
  t.like(
    german.checks.find(({ key }: { key: string }) => key === 'unsubscribe'),
    { message: 'Empfänger können sich abmelden' },
  );
  t.true(german.recommendations.includes('Leads hinzufügen oder die Kampagne fortlaufend machen.'));
  const { findings, checks } = await world.deps.db('preflight_reports').where({ id: german.id }).first();
  t.notRegex(JSON.stringify([findings, checks]), /Kampagne|campaign has/);
  const refused = await call(world, 'POST', `/v1/campaigns/${id}/start`, {
    token: desk.tenant.apiKey,
    headers: { 'accept-language': 'de' },
  });
  t.like(refused.body, { code: 'no_leads', message: 'Die Kampagne hatte noch nie einen Lead' });
});

test.serial('a campaign that is in order passes with the full score, and the report is stored', async (t) => {
  const { desk, id } = await prepared();
  const { status, body, codes } = await preflight(desk, id);
  t.is(status, 200);
  t.deepEqual(codes, []);
  t.like(body, {
    campaign_id: id,
    organization_id: desk.tenant.organizationId,
    passed: true,
    score: 100,
    recommendations: [],
  });
  t.deepEqual(
    body.checks.map(({ key, passed }: { key: string; passed: boolean }) => [key, passed]),
    [
      'launch',
      'sending_domains',
      'tracking_domain',
      'unsubscribe',
      'content',
      'variables',
      'list',
      'daily_limit',
      'schedule',
      'ab_variants',
    ].map((key) => [key, true]),
  );
  const stored = await world.deps.db('preflight_reports').where({ campaign_id: id }).first();
  t.like(stored, { id: body.id, passed: true, score: 100 });
  t.deepEqual(
    stored.findings.map(({ code, values }: { code: string; values: object }) => [code, values]),
    body.findings.map(({ code, values }: { code: string; values: object }) => [`finding.${code}`, values]),
  );
  t.is((await desk.row(id)).status, 'draft');
  t.deepEqual(await world.deps.db('sends').where({ campaign_id: id }), []);
});

test.serial('what a start would refuse is an error, as in validation', async (t) => {
  const { desk, id } = await prepared({ steps: [{ subject: 'Empty' }] }, [], { status: 'inactive' });
  const { body, codes, findings } = await preflight(desk, id);
  t.false(body.passed);
  t.true(body.score <= 40);
  const problems = (await desk.call('POST', `/campaigns/${id}/validate`)).body.problems as Found[];
  for (const { code, severity, step_id } of problems)
    t.true(
      findings.some((one) => one.code === code && one.severity === severity && one.step_id === step_id),
      code,
    );
  t.true(['campaign_no_contacts', 'campaign_no_mailbox', 'empty_step_body'].every((code) => codes.includes(code)));
});

test.serial('the check of the sending domains does not pass for a pool without a mailbox', async (t) => {
  const desk = await openDesk(world);
  const campaign = await desk.campaign({ steps: [{ subject: 'Stock counts', body_plain: BODY }] });
  const { body, findings } = await preflight(desk, campaign.id);
  const check = body.checks.find(({ key }: { key: string }) => key === 'sending_domains');
  t.like(check, { passed: false, severity: 'warning' });
  t.like(
    findings.find(({ check: of }) => of === 'sending_domains'),
    { code: 'no_sending_domains', severity: 'warning' },
  );
});

test.serial('DNS of the sending domains: what is missing costs points, what has no answer does not', async (t) => {
  const { desk, id } = await prepared();
  const codesWith = async (changes: Record<string, string[] | null>) => {
    zone = { ...SOUND, ...changes };
    return (await preflight(desk, id)).codes;
  };
  t.deepEqual(await codesWith({ 'TXT sound.example': ['hello'] }), ['spf_missing']);
  t.deepEqual(await codesWith({ 'TXT sound.example': ['v=spf1 -all', 'v=spf1 ~all'] }), ['spf_twice']);
  t.deepEqual(await codesWith({ 'TXT sound.example': ['v=spf1 +all'] }), ['spf_open']);
  t.deepEqual(await codesWith({ 'TXT s1._domainkey.sound.example': ['v=DKIM1; p='] }), ['dkim_missing']);
  t.deepEqual(await codesWith({ 'TXT _dmarc.sound.example': [] }), ['dmarc_missing']);
  t.deepEqual(await codesWith({ 'MX sound.example': [] }), ['mx_missing']);
  t.deepEqual(await codesWith({ 'MX sound.example': ['.'] }), ['mx_missing']);
  zone = { ...SOUND, 'TXT sound.example': null, 'MX sound.example': null };
  const silent = await preflight(desk, id);
  t.is(silent.body.score, 100);
  t.deepEqual(silent.codes, []);
  t.true(silent.findings.some(({ code }) => code === 'dns_unanswered'));
});

test.serial(
  'a subdomain has the DMARC record of its organizational domain; an alias is the sending domain',
  async (t) => {
    const { desk, id } = await prepared({}, [{}], { send_as_email: 'anna@news.sound.example' });
    zone = {
      'TXT news.sound.example': SOUND['TXT sound.example']!,
      'TXT s2._domainkey.news.sound.example': ['p=MIIB'],
      'TXT _dmarc.sound.example': ['v=DMARC1; p=reject'],
      'MX news.sound.example': ['mx.example'],
    };
    t.deepEqual((await preflight(desk, id)).codes, []);
    t.false(asked.includes('TXT sound.example'));
  },
);

test.serial(
  'a resolver that never answers holds a report up only so long, and domains that were not looked up are named',
  async (t) => {
    const { desk, id } = await prepared();
    for (let n = 0; n < 41; n += 1) await desk.mailbox({ email: `a@d${n}.example` });
    const ctx = world.system(desk.tenant.organizationId);
    const never = () => new Promise<null>(() => {});
    const silent = await readCampaignDns({ ...ctx, dns: { txt: never, mx: never, cname: never } }, id, {
      timeoutMs: 20,
    });
    t.true(silent.senders.every(({ unanswered }) => unanswered.length === 4));
    const read = await readCampaignDns(ctx, id);
    t.is(read.senders.length, 40);
    t.is(read.leftOut, 2);
    const report = await preflightCampaign(ctx, id, read);
    t.true(report.findings.some(({ code }) => code === 'finding.dns_partly_read'));
  },
);

test.serial('the tracking domain: unverified is a warning, one that points elsewhere an error', async (t) => {
  const { desk, id } = await prepared({ tracking_domain: 'go.sound.example', link_tracking: true });
  t.deepEqual((await preflight(desk, id)).codes, ['tracking_domain_unverified']);
  await world.deps.db('campaigns').where({ id }).update({ tracking_domain_verified: true });
  const broken = await preflight(desk, id);
  t.deepEqual(broken.codes, ['tracking_domain_broken']);
  t.false(broken.body.passed);
  zone['CNAME go.sound.example'] = null;
  t.deepEqual((await preflight(desk, id)).codes, []);
  zone['CNAME go.sound.example'] = [`${new URL(world.deps.config.TRACKING_DOMAIN).hostname.toUpperCase()}.`];
  t.deepEqual((await preflight(desk, id)).codes, []);
});

test.serial('merge fields are looked up over the actual leads', async (t) => {
  const { desk, id } = await prepared(
    {
      steps: [
        {
          subject: 'For {{.plan}}',
          body_plain: `${BODY} {{.Phone | default "you"}} {{.nothing}} {{if .LastName}}x{{end}}`,
        },
      ],
    },
    [{ custom_fields: { plan: 'pro' } }, { company: '', custom_fields: { plan: ' ' } }, { company: ' ' }],
  );
  const { findings, codes } = await preflight(desk, id);
  t.deepEqual(codes, ['campaign_variable_missing', 'variable_empty', 'variable_empty']);
  t.deepEqual(
    findings
      .filter(({ code }) => code === 'variable_empty')
      .map(({ message }) => message)
      .sort(),
    ['{{.Company}} has no value for 2 of 3 leads', '{{.plan}} has no value for 2 of 3 leads'],
  );
});

test.serial('the risk of the list: bounced, unverified, role and free mail addresses', async (t) => {
  const { desk, id, contacts } = await prepared({}, [
    { email: `info@${newId()}.example`, verification_status: 'unknown' },
    { email: `${newId()}@gmail.com`, verification_status: 'unknown' },
    { email: `${newId()}@web.de` },
    {},
  ]);
  const now = world.deps.clock.now();
  await world.deps.db('sends').insert({
    id: newId(),
    organization_id: desk.tenant.organizationId,
    contact_id: contacts[3],
    state: 'bounced',
    recipient: 'x@example.com',
    slot_at: now,
    slot_day: '2026-01-01',
    bounced_at: now,
    created_at: now,
    updated_at: now,
  });
  const { codes, findings } = await preflight(desk, id);
  t.deepEqual(codes, ['list_bounced_before', 'list_role_addresses', 'list_unverified']);
  t.regex(findings.find(({ code }) => code === 'list_bounced_before')!.message, /1 of 4 leads \(25 %\)/);
  await world.deps
    .db('contacts')
    .where({ id: contacts[3] })
    .update({ email: `${newId()}@yahoo.com` });
  await desk.call('POST', '/suppressions', { entries: [{ value: 'gmail.com' }] });
  await world.deps.db('contacts').where({ id: contacts[3] }).update({ subscribed: false });
  t.like(
    (await preflight(desk, id)).findings.find(({ code }) => code === 'list_suppressed'),
    { severity: 'info', values: { count: 2, open: 4, share: 50 } },
  );
  t.true(
    (await preflight(desk, id)).findings.some(({ code, severity }) => code === 'list_free_mail' && severity === 'info'),
  );
});

test.serial('leads of another active campaign are counted, as the workspace or the campaign says', async (t) => {
  const { desk, id, contacts } = await prepared({}, [{}, {}, {}, {}]);
  const other = await desk.campaign({ steps: [{ subject: 'Other', body_plain: BODY }] });
  await desk.call('POST', `/campaigns/${other.id}/leads`, { contact_ids: contacts.slice(0, 3) });
  const [done] = contacts;
  await world.deps.db('enrollments').where({ campaign_id: other.id, contact_id: done }).update({ state: 'replied' });
  const found = async () => {
    const { codes, findings } = await preflight(desk, id);
    const { problems, valid } = (await desk.call('POST', `/campaigns/${id}/validate`)).body;
    t.true(valid);
    const said = (list: Found[]) => list.filter(({ code }) => /elsewhere|other_campaigns/.test(code));
    t.deepEqual(
      said(problems).map(({ code, message }) => [code, message]),
      said(findings).map(({ code, message }) => [code, message]),
    );
    return { codes, said: said(findings) };
  };
  t.deepEqual((await found()).said, [], 'the other campaign is a draft');
  await world.deps.db('campaigns').where({ id: other.id }).update({ status: 'active' });
  const warned = await found();
  t.deepEqual(warned.codes, ['list_in_other_campaigns']);
  t.regex(warned.said[0]!.message, /^2 of 4 leads \(50 %\)/);
  const settings = (mode: string) =>
    call(world, 'PATCH', '/v1/outreach/settings', {
      token: desk.tenant.sessionToken,
      body: { settings: { campaign_overlap: { mode } } },
    });
  t.is((await settings('hold')).status, 204);
  t.like((await found()).said, [{ code: 'list_held_elsewhere', severity: 'info' }] as never);
  t.is((await settings('off')).status, 204);
  t.deepEqual((await found()).said, []);
  t.is((await settings('sometimes')).body.code, 'invalid_setting');
});

test.serial('copy, opt-out, volume and variants', async (t) => {
  const { desk, id } = await prepared(
    {
      steps: [{ subject: 'MAKE MONEY NOW', body_plain: `${BODY} Act now!!! Get rich!!! casino lottery` }],
      unsubscribe_header: false,
      daily_limit: 100,
      advanced_overrides: { unsubscribe: { mode: 'off' } },
      variants: [{ name: 'B', subject: 'MAKE MONEY NOW', body_plain: `${BODY} Act now!!! Get rich!!! casino lottery` }],
    },
    [{}],
    { campaign_limit: 80 },
  );
  const { body, codes, findings } = await preflight(desk, id);
  t.true(body.passed, 'the content score never blocks');
  for (const code of [
    'content_score_low',
    'content_spam_phrases',
    'unsubscribe_missing',
    'daily_limit_high',
    'ab_variant_single',
  ])
    t.true(codes.includes(code), code);
  t.true(findings.filter(({ check }) => check === 'content').every(({ step_id }) => step_id !== undefined));
  t.true(body.score < 60);
  const off = {
    preflight: {
      check_content_score: false,
      check_unsubscribe_header: false,
      check_daily_limit: false,
      check_ab_variant_configured: false,
    },
  };
  await desk.call('PATCH', `/campaigns/${id}/advanced`, { settings: off });
  t.deepEqual((await preflight(desk, id)).codes, []);
  await desk.call('PATCH', `/campaigns/${id}/advanced`, { settings: { preflight: { enabled: false } } });
  t.deepEqual(
    (await preflight(desk, id)).body.checks.map(({ key }: { key: string }) => key),
    ['launch'],
  );
});

test.serial('windows and dates against what the mailboxes can send', async (t) => {
  const soon = new Date(world.deps.clock.now().getTime() + 3 * DAY_MS).toISOString();
  const leads = Array.from({ length: 5 }, () => ({}));
  const short = await prepared({ daily_limit: 1, days: 127, end_date: soon }, leads);
  t.deepEqual((await preflight(short.desk, short.id)).codes, ['schedule_too_short']);
  const never = await prepared({ days: 0 }, leads);
  const closed = await preflight(never.desk, never.id);
  t.deepEqual(closed.codes, ['schedule_never_opens']);
  t.false(closed.body.passed);
  const long = await prepared({ daily_limit: 2, days: 127 }, leads);
  const { findings, codes } = await preflight(long.desk, long.id);
  t.deepEqual(codes, []);
  t.regex(findings.find(({ code }) => code === 'schedule_projection')!.message, /5 leads take [34] days/);
});

test.serial('of a campaign the newest 20 reports are kept, and none once it is deleted', async (t) => {
  const { desk, id } = await prepared();
  const ctx = world.system(desk.tenant.organizationId);
  for (let n = 0; n < 22; n += 1) await preflightCampaign(ctx, id);
  t.is((await world.deps.db('preflight_reports').where({ campaign_id: id })).length, 20);
  await desk.call('DELETE', `/campaigns/${id}`);
  t.deepEqual(await world.deps.db('preflight_reports').where({ campaign_id: id }), []);
});
