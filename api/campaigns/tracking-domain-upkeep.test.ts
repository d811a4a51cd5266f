import test from 'ava';
import { checkTrackingDomain, markTrackingDomain } from '../../domain/campaigns/tracking-domain.ts';
import { checkTrackingDomains } from '../../domain/campaigns/tracking-domain-upkeep.ts';
import { HOUR_MS } from '../../lib/clock.ts';
import { EgressError, type Egress } from '../../lib/egress/index.ts';
import { newId } from '../../lib/ids.ts';
import { MailFailure } from '../../lib/mail/index.ts';
import { message } from '../../messages/index.ts';
import { openDesk } from '../../test/harness/campaign-desk.ts';
import { createMailbox } from '../../test/harness/factories.ts';
import { ManualClock } from '../../test/harness/manual-clock.ts';
import { egressWithHealth } from '../../test/harness/tracking-health.ts';
import { createWorld, type World } from '../../test/harness/world.ts';

const clock = new ManualClock(new Date('2026-03-02T12:00:00Z'));
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
});
test.after.always(() => world?.close());

const never = new AbortController().signal;

/**
 * Creates a workspace whose campaign and mailbox use a verified domain, and a sweep with stubbed network answers for
 * this domain.
 */
async function openVerified() {
  const desk = await openDesk(world);
  const domain = `track-${newId()}.example.com`;
  const home = new URL(world.deps.config.TRACKING_DOMAIN).hostname;
  const network = { names: [home] as string[] | null, egress: await egressWithHealth(world.deps) };
  const withNetwork = () => ({
    egress: network.egress,
    dns: {
      mx: async () => [],
      cname: async () => network.names,
      txt: async () => [`heron-workspace=${desk.tenant.organizationId}`],
    },
  });
  const { id } = await desk.campaign({ tracking_domain: domain });
  const ctx = { ...world.system(desk.tenant.organizationId), ...withNetwork() };
  await markTrackingDomain(ctx, id, await checkTrackingDomain(ctx, id));
  const at = clock.now();
  const mailboxId = await createMailbox(world.deps, desk.tenant.organizationId, undefined, undefined, {
    tracking_domain: domain,
    tracking_domain_verified: true,
    tracking_domain_verified_at: at,
  });
  const { db } = world.deps;
  return {
    desk,
    domain,
    id: id as string,
    network,
    sweep: (overrides: object = {}) => checkTrackingDomains({ ...world.deps, ...withNetwork(), ...overrides }, never),
    isUsed: async () => {
      const campaign = await desk.row(id);
      const mailbox = await db('mailboxes').where({ id: mailboxId }).first();
      return [campaign.tracking_domain_verified, mailbox.tracking_domain_verified];
    },
    mails: () => world.outgoing.filter(({ to }) => to === desk.tenant.email),
  };
}

const failing = (egress: Egress, error: unknown): Egress => ({ ...egress, request: () => Promise.reject(error) });
const untrusted = new EgressError('tls', 'tls', message('egress.closed'), 'CERT_HAS_EXPIRED');

test.serial(
  'a domain that fails its daily check is out of use, its owner is told the cause once, and it comes back',
  async (t) => {
    const { desk, domain, id, network, sweep, isUsed, mails } = await openVerified();
    const fresh = (await desk.campaign({ tracking_domain: domain })).id as string;
    clock.advance(23 * HOUR_MS);
    t.is(await sweep(), 0, 'not yet due');
    clock.advance(HOUR_MS);
    t.is(await sweep(), 1);
    t.deepEqual(await isUsed(), [true, true]);
    t.deepEqual(mails(), []);

    clock.advance(24 * HOUR_MS);
    const { egress } = network;
    network.egress = failing(egress, untrusted);
    t.is(await sweep(), 1);
    t.deepEqual(await isUsed(), [false, false]);
    t.is(mails().length, 1);
    t.is(mails()[0]!.subject, `Links no longer use ${domain}`);
    t.regex(mails()[0]!.text, /no valid TLS certificate/);
    const [line] = await world.deps
      .db('campaign_logs')
      .where({ campaign_id: id, event_type: 'tracking_domain_failed' });
    t.deepEqual(line.metadata, { domain, cause: 'certificate' });

    clock.advance(HOUR_MS);
    t.is(await sweep(), 1, 'a domain that fails is checked hourly');
    t.is(mails().length, 1, 'once');
    network.egress = egress;
    clock.advance(HOUR_MS);
    await sweep();
    t.deepEqual(await isUsed(), [true, true]);
    t.false((await desk.row(fresh)).tracking_domain_verified, 'nobody has had this campaign verified');
    t.is(mails().length, 1);
  },
);

test.serial('each cause has its code; a DNS server that does not answer is no cause', async (t) => {
  const { domain, network, sweep, isUsed } = await openVerified();
  const fault = async () => (await world.deps.db('tracking_domains').where({ domain }).first('fault')).fault as string;
  const { egress, names } = network;
  clock.advance(25 * HOUR_MS);
  network.names = null;
  await sweep();
  t.deepEqual([await fault(), ...(await isUsed())], [null, true, true]);
  const cases: [string, () => void][] = [
    ['dns', () => (network.names = ['elsewhere.example.net'])],
    [
      'no_answer',
      () => (network.egress = failing(egress, new EgressError('timeout', 'connect', message('egress.timeout')))),
    ],
    ['certificate', () => (network.egress = failing(egress, untrusted))],
    [
      'other_instance',
      () =>
        (network.egress = { ...egress, request: async () => ({ status: 200, body: Buffer.from('null') }) as never }),
    ],
  ];
  for (const [cause, arrange] of cases) {
    Object.assign(network, { names, egress });
    arrange();
    clock.advance(25 * HOUR_MS);
    await sweep();
    t.deepEqual([await fault(), ...(await isUsed())], [cause, false, false]);
  }
});

test.serial('a mail about a failed domain that the server does not take is sent by the next sweep', async (t) => {
  const { network, sweep, mails } = await openVerified();
  clock.advance(25 * HOUR_MS);
  network.egress = failing(network.egress, untrusted);
  const busy = { send: () => Promise.reject(new MailFailure('later', new Error('busy'))), close() {} };
  await sweep({ systemMail: busy });
  t.deepEqual(mails(), []);
  await sweep();
  t.is(mails().length, 1);
});
