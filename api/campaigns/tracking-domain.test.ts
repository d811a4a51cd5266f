import type { RequestListener } from 'node:http';
import test, { type ExecutionContext } from 'ava';
import {
  checkMailboxDomain,
  checkTrackingDomain,
  markTrackingDomain,
  setMailboxDomain,
} from '../../domain/campaigns/tracking-domain.ts';
import { listTrackingDomains } from '../../domain/campaigns/tracking-domain-records.ts';
import { readInstallationId } from '../../domain/platform/installation-id.ts';
import { createEgress, type Egress } from '../../lib/egress/index.ts';
import { fixture, httpsReceiver } from '../../lib/egress/fixtures/servers.ts';
import type { AppError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { freePort } from '../../local/servers.ts';
import { createMailbox } from '../../test/harness/factories.ts';
import { openDesk, type Desk } from '../../test/harness/campaign-desk.ts';
import { egressWithHealth } from '../../test/harness/tracking-health.ts';
import { assertStatus, call, createWorld, type World } from '../../test/harness/world.ts';
import { render } from '../../messages/render.ts';
import { createClickRecorder } from '../../domain/campaigns/tracking/clicks.ts';
import { createOpenRecorder } from '../../domain/campaigns/tracking/opens.ts';
import { createTrackingApp } from './tracking/app.ts';

let world: World;
let healthy: Egress;
let home: string;
test.before(async () => {
  world = await createWorld();
  healthy = await egressWithHealth(world.deps);
  home = new URL(world.deps.config.TRACKING_DOMAIN).hostname;
});
test.after.always(() => world?.close());

/** Context of a workspace with the DNS of one domain. */
const contextOf = (desk: Desk, domain: string, cname: string[], txt: string[] = [], egress = healthy) => ({
  ...world.system(desk.tenant.organizationId),
  egress,
  dns: {
    mx: async () => [],
    cname: async (host: string) => (host === domain ? cname : []),
    txt: async (name: string) => (name === `_heron.${domain}` ? txt : []),
  },
});
const proofOf = (desk: Desk) => `heron-workspace=${desk.tenant.organizationId}`;

test('a tracking domain counts once it points here and names the workspace, and no longer after it is changed or moved', async (t) => {
  const desk = await openDesk(world);
  const domain = 'track.example.com';
  const { id } = await desk.campaign({ tracking_domain: 'Track.Example.com' });
  const verify = async (names: string[], texts?: string[]) => {
    const ctx = contextOf(desk, domain, names, texts);
    return markTrackingDomain(ctx, id, await checkTrackingDomain(ctx, id));
  };
  const unproved = await t.throwsAsync<AppError>(verify([home]));
  t.is(unproved?.code, 'bad_request');
  t.true(render(unproved!.fix!).includes(proofOf(desk)), 'says which record is missing');
  await t.throwsAsync(verify([home], ['heron-workspace=' + newId()]), { code: 'bad_request' } as never);
  t.true((await verify([`${home.toUpperCase()}.`], ['v=spf1 -all', proofOf(desk)])).tracking_domain_verified);
  await t.throwsAsync(verify(['elsewhere.example.net']), { code: 'bad_request' } as never);
  t.false((await desk.row(id)).tracking_domain_verified);
  await verify([home]);
  const changed = (await desk.call('PATCH', `/campaigns/${id}`, { tracking_domain: 'other.example.com' })).body;
  t.like(changed, {
    tracking_domain: 'other.example.com',
    tracking_domain_verified: false,
    tracking_domain_verified_at: null,
  });
  const ctx = world.system(desk.tenant.organizationId);
  await t.throwsAsync(markTrackingDomain(ctx, id, { domain, named: [] }), { code: 'conflict' } as never);
  await desk.call('PATCH', `/campaigns/${id}`, { tracking_domain: '' });
  t.is((await desk.call('POST', `/campaigns/${id}/tracking-domain/verify`)).status, 400);
});

test('a tracking domain belongs to one workspace, and goes over only when its owner names the other alone', async (t) => {
  const [first, second] = [await openDesk(world), await openDesk(world)];
  const domain = 'shared.example.com';
  const verify = async (desk: Desk, id: string, texts: string[]) => {
    const ctx = contextOf(desk, domain, [home], texts);
    return markTrackingDomain(ctx, id, await checkTrackingDomain(ctx, id));
  };
  const [mine, yours] = [
    (await first.campaign({ tracking_domain: domain })).id,
    (await second.campaign({ tracking_domain: domain })).id,
  ];
  await verify(first, mine, [proofOf(first)]);
  await t.throwsAsync(verify(second, yours, [proofOf(first)]), { code: 'bad_request' } as never);
  await t.throwsAsync(verify(second, yours, [proofOf(first), proofOf(second)]), { code: 'conflict' } as never);
  t.false((await second.row(yours)).tracking_domain_verified);
  t.true((await first.row(mine)).tracking_domain_verified);

  t.true((await verify(second, yours, [proofOf(second)])).tracking_domain_verified);
  t.false((await first.row(mine)).tracking_domain_verified, 'the workspace that had it has lost it');
  await t.throwsAsync(verify(first, mine, []), { code: 'bad_request' } as never);
});

test('a mailbox gets a tracking domain that passes the same check, and loses it on request', async (t) => {
  const desk = await openDesk(world);
  const domain = 'links.example.com';
  const id = await createMailbox(world.deps, desk.tenant.organizationId, `${newId()}@ours.test`);
  const set = async (cname: string[], txt: string[]) => {
    const ctx = contextOf(desk, domain, cname, txt);
    return setMailboxDomain(ctx, id, await checkMailboxDomain(ctx, id, domain));
  };
  const row = () => world.deps.db('mailboxes').where({ id }).first();
  await t.throwsAsync(set(['elsewhere.example.net'], [proofOf(desk)]), { code: 'bad_request' } as never);
  t.is((await row()).tracking_domain, '');
  t.true((await set([home], [proofOf(desk)])).tracking_domain_verified);
  t.like(await row(), { tracking_domain: domain, tracking_domain_verified: true });
  const cleared = await desk.call('PATCH', `/emails/${id}/track`);
  t.like(cleared, { status: 200, body: { tracking_domain: '', tracking_domain_verified: false } });
  t.is((await row()).tracking_domain, '');
  t.is((await desk.call('PATCH', `/emails/${id}/track?domain=not%20a%20host`)).status, 400);
});

/**
 * Egress that resolves every name to loopback, with `port` in place of 443. It trusts the certificate of the fixtures.
 */
function egressTo(t: ExecutionContext, port: number, options: { isTrusting?: boolean } = {}): Egress {
  const egress = createEgress({
    allowUnsafe: true,
    lookup: async () => ['127.0.0.1'],
    extraCa: options.isTrusting === false ? [] : [fixture('valid.pem'), fixture('expired.pem')],
  });
  t.teardown(() => egress.close());
  return {
    ...egress,
    request: (request) => {
      const url = new URL(String(request.url));
      t.is(url.protocol, 'https:');
      url.port = String(port);
      return egress.request({ ...request, url });
    },
  };
}

test('a tracking domain counts only when this installation answers https on it with a valid certificate', async (t) => {
  const desk = await openDesk(world);
  const domain = 'hooks.example.com';
  const { id } = await desk.campaign({ tracking_domain: domain });
  const another = (await desk.campaign({ tracking_domain: domain })).id as string;
  const verify = async (egress: Egress, campaignId = id) => {
    const ctx = contextOf(desk, domain, [home], [proofOf(desk)], egress);
    return markTrackingDomain(ctx, campaignId, await checkTrackingDomain(ctx, campaignId));
  };
  const trackingApp = (instance: string) =>
    createTrackingApp(world.deps, createMetrics(), {
      instance,
      opens: createOpenRecorder(world.deps),
      clicks: createClickRecorder(world.deps),
    }).callback() as RequestListener;
  const instance = await readInstallationId(world.deps.db);
  const right = await httpsReceiver(t, 'valid.pem', trackingApp(instance));
  const other = await httpsReceiver(t, 'valid.pem', trackingApp(newId()));
  const expired = await httpsReceiver(t, 'expired.pem', trackingApp(instance));
  const site = await httpsReceiver(t, 'valid.pem', (_, response) => void response.end('<html>Welcome</html>'));
  const gateway = await httpsReceiver(t, 'valid.pem', (_, response) => void response.writeHead(502).end());
  let redirected = 0;
  const moved = await httpsReceiver(t, 'valid.pem', (request, response) => {
    if (request.url !== '/health') redirected += 1;
    response.writeHead(308, { location: `https://hooks.example.com:${right.port}/health` }).end();
  });
  const privateOnly = createEgress({ allowUnsafe: false, lookup: async () => ['127.0.0.1'] });
  t.teardown(() => privateOnly.close());
  const nobody = await freePort();

  const faults: [string, Egress][] = [
    ['tracking.other_instance', egressTo(t, other.port)],
    ['tracking.other_instance', egressTo(t, site.port)],
    ['tracking.other_instance', egressTo(t, moved.port)],
    ['tracking.no_answer', egressTo(t, gateway.port)],
    ['tracking.no_answer', egressTo(t, nobody)],
    ['tracking.certificate', egressTo(t, expired.port)],
    ['tracking.certificate', egressTo(t, right.port, { isTrusting: false })],
    ['tracking.dns', privateOnly],
  ];
  for (const [code, egress] of faults) {
    const refused = await t.throwsAsync<AppError>(verify(egress), undefined, code);
    t.is(refused!.said.code as string, code);
    t.truthy(refused!.fix);
    t.false((await desk.row(id)).tracking_domain_verified);
  }
  t.is(redirected, 0, 'a redirect is not followed');

  t.true((await verify(egressTo(t, right.port))).tracking_domain_verified);
  t.true((await verify(egressTo(t, right.port), another)).tracking_domain_verified);
  await t.throwsAsync(verify(egressTo(t, expired.port)));
  t.false((await desk.row(id)).tracking_domain_verified);
  t.false((await desk.row(another)).tracking_domain_verified, 'no campaign of the workspace uses it any more');
  const lines = await world.deps
    .db('campaign_logs')
    .where({ campaign_id: another, event_type: 'tracking_domain_failed' });
  t.deepEqual(
    lines.map(({ metadata }) => metadata),
    [{ domain, cause: 'certificate' }],
  );
  t.true((await verify(egressTo(t, right.port))).tracking_domain_verified);
  t.true((await desk.row(another)).tracking_domain_verified, 'the check is of the domain, not of one campaign');
});

test('the domains of a workspace are listed with the records that they need and that DNS has', async (t) => {
  const [desk, other] = [await openDesk(world), await openDesk(world)];
  const { organizationId } = desk.tenant;
  const domain = 'listed.example.com';
  const { id } = await desk.campaign({ name: 'Lights', tracking_domain: domain });
  const mailboxId = await createMailbox(world.deps, organizationId, `${newId()}@ours.test`, undefined, {
    tracking_domain: 'old.example.com',
  });
  const list = async (cname: string[], txt: string[]) => {
    const listed = await listTrackingDomains(contextOf(desk, domain, cname, txt));
    return listed.map(({ records, ...one }) => ({
      ...one,
      records: records.map(({ type, found, isRequired, isCorrect }) => [type, found, isRequired, isCorrect]),
    }));
  };
  t.like(await list(['elsewhere.example.net'], [proofOf(desk)]), [
    {
      domain,
      fault: null,
      verified_at: null,
      campaigns: [{ id, name: 'Lights', in_use: false }],
      mailboxes: [],
      records: [
        ['CNAME', ['elsewhere.example.net'], true, false],
        ['TXT', [proofOf(desk)], true, true],
      ],
    },
    { domain: 'old.example.com', campaigns: [], mailboxes: [{ id: mailboxId, in_use: false }] },
  ]);
  const ctx = contextOf(desk, domain, [home], [proofOf(desk)]);
  await markTrackingDomain(ctx, id, await checkTrackingDomain(ctx, id));
  const [held] = await list([home], []);
  t.deepEqual(held!.records, [
    ['CNAME', [home], true, true],
    ['TXT', [], false, false],
  ]);
  t.true(held!.campaigns[0]!.in_use);

  const read = (token: string) => call(world, 'GET', '/v1/tracking-domains', { token });
  const answer = await read(desk.tenant.apiKey);
  assertStatus(t, answer, 200);
  t.like(answer.body.data[0], {
    domain,
    fault: null,
    records: [
      { type: 'CNAME', name: domain, expected: home, found: [], required: true, correct: false },
      { type: 'TXT', name: `_heron.${domain}`, expected: proofOf(desk), found: [], required: false, correct: false },
    ],
  });
  t.deepEqual((await read(other.tenant.apiKey)).body, { data: [] });
});
