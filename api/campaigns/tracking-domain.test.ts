import test from 'ava';
import { checkTrackingDomain, markTrackingDomain } from '../../domain/campaigns/tracking-domain.ts';
import type { AppError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { openDesk, type Desk } from '../../test/harness/campaign-desk.ts';
import { createWorld, type World } from '../../test/harness/world.ts';
import { render } from '../../messages/render.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

/** DNS of one domain. */
const dns = (cname: string[], txt: string[] = [], domain = 'track.example.com') => ({
  cname: async (host: string) => (host === domain ? cname : []),
  txt: async (name: string) => (name === `_heron.${domain}` ? txt : []),
});
const proofOf = (desk: Desk) => `heron-workspace=${desk.tenant.organizationId}`;

test('a tracking domain counts once it points here and names the workspace, and no longer after it is changed or moved', async (t) => {
  const desk = await openDesk(world);
  const { id } = await desk.campaign({ tracking_domain: 'Track.Example.com' });
  const ctx = world.system(desk.tenant.organizationId);
  const home = new URL(world.deps.config.TRACKING_DOMAIN).hostname;
  const verify = async (names: string[], texts?: string[]) =>
    markTrackingDomain(ctx, id, await checkTrackingDomain(ctx, id, dns(names, texts)));
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
  await t.throwsAsync(markTrackingDomain(ctx, id, { domain: 'track.example.com', named: [] }), {
    code: 'conflict',
  } as never);
  await desk.call('PATCH', `/campaigns/${id}`, { tracking_domain: '' });
  t.is((await desk.call('POST', `/campaigns/${id}/tracking-domain/verify`)).status, 400);
});

test('a tracking domain belongs to one workspace, and goes over only when its owner names the other alone', async (t) => {
  const [first, second] = [await openDesk(world), await openDesk(world)];
  const domain = 'shared.example.com';
  const home = new URL(world.deps.config.TRACKING_DOMAIN).hostname;
  const verify = async (desk: Desk, id: string, texts: string[]) => {
    const ctx = world.system(desk.tenant.organizationId);
    return markTrackingDomain(ctx, id, await checkTrackingDomain(ctx, id, dns([home], texts, domain)));
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
