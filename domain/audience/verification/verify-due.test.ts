import test from 'ava';
import { newId } from '../../../lib/ids.ts';
import type { DnsRecords } from '../../../lib/dns.ts';
import { createContact, type Tenant } from '../../../test/harness/factories.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createWorld, noRecords, type World } from '../../../test/harness/world.ts';
import { startZeroBounce, type ZeroBounceDouble } from '../../../test/harness/zerobounce.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { scheduleVerification } from './schedule.ts';
import { verifyDueAddresses } from './verify-due.ts';

const MX: Record<string, readonly string[] | null> = {
  'mail.example': ['mx.mail.example'],
  'null.example': ['.'],
  'mailinator.com': ['mx.mailinator.com'],
  'eu.mailinator.com': ['mx.mailinator.com'],
  'silent.example': null,
};
const dns: DnsRecords = { ...noRecords, mx: async (domain) => (domain in MX ? MX[domain]! : []) };

let service: ZeroBounceDouble;
let clock: ManualClock;
let builtin: World;
let paid: World;
test.before(async () => {
  service = await startZeroBounce();
  clock = new ManualClock();
  const env = { EMAIL_VERIFICATIONS_PER_MINUTE: '100000' };
  [builtin, paid] = await Promise.all([
    createWorld({ dns, clock, env }),
    createWorld({
      dns,
      clock,
      env: { ...env, EMAIL_VERIFICATION: 'zerobounce', ZEROBOUNCE_API_KEY: service.key, ZEROBOUNCE_URL: service.url },
    }),
  ]);
});
test.after.always(async () => {
  await builtin?.close();
  await paid?.close();
  await service?.close();
});

async function schedule(world: World, tenant: Tenant, emails: readonly string[]): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const email of emails)
    ids.set(email, await createContact(world.deps.db, world.deps.clock.now(), tenant.organizationId, { email }));
  await transact(world.system(tenant.organizationId), (tx) => scheduleVerification(tx, [...ids.values()]));
  return ids;
}
const contact = (world: World, id: string | undefined) => world.deps.db('contacts').where({ id: id! }).first();
const waiting = (world: World, tenant: Tenant) =>
  world.deps.db('contact_verifications').where({ organization_id: tenant.organizationId });

test.serial(
  'the built-in checker: form, mail exchangers, disposable services and addresses of functions',
  async (t) => {
    const tenant = await builtin.tenant();
    const expected: Record<string, [string, string]> = {
      'ann@mail.example': ['unknown', 'takes_mail'],
      'info@mail.example': ['risky', 'role_address'],
      'ann@null.example': ['invalid', 'takes_no_mail'],
      'ann@nowhere.example': ['risky', 'no_mail_exchanger'],
      'ann@mailinator.com': ['risky', 'disposable'],
      'ann@eu.mailinator.com': ['risky', 'disposable'],
    };
    const ids = await schedule(builtin, tenant, [...Object.keys(expected), 'ann@silent.example']);
    t.is(await verifyDueAddresses(builtin.deps), Object.keys(expected).length);
    for (const [email, [status, reason]] of Object.entries(expected)) {
      const row = await contact(builtin, ids.get(email));
      t.deepEqual([row!.verification_status, row!.verification_reason], [status, reason], email);
      t.deepEqual(row!.verification_checked_at, clock.now());
    }
    const [left, ...others] = await waiting(builtin, tenant);
    t.is(others.length, 0);
    t.like(left, { contact_id: ids.get('ann@silent.example'), attempts: 1 });
    const events = await builtin.deps
      .db('domain_events')
      .where({ organization_id: tenant.organizationId, type: 'contact.updated' });
    t.is(events.length, Object.keys(expected).length);
  },
);

test.serial('silence is asked again after longer and longer times, and ends as unknown', async (t) => {
  const tenant = await builtin.tenant();
  const ids = await schedule(builtin, tenant, ['bob@silent.example']);
  const id = ids.get('bob@silent.example');
  const waits: number[] = [];
  for (let attempt = 1; attempt <= 8; attempt += 1) {
    await verifyDueAddresses(builtin.deps);
    const [row] = await waiting(builtin, tenant);
    if (!row) break;
    t.is(row.attempts, attempt);
    waits.push((row.due_at.getTime() - clock.now().getTime()) / 60_000);
    t.is(await verifyDueAddresses(builtin.deps), 0, 'not before it is due');
    clock.set(row.due_at);
  }
  t.deepEqual(waits, [5, 10, 20, 40, 80, 160, 320]);
  const row = await contact(builtin, id);
  t.like(row, { verification_status: 'unknown', verification_reason: 'no_answer' });
  t.truthy(row!.verification_checked_at);
});

test.serial(
  'a look that fails holds up no other address, and is given up after as many tries as silence',
  async (t) => {
    const tenant = await builtin.tenant();
    const ids = await schedule(builtin, tenant, ['eve@broken.example', 'fay@mail.example']);
    const broken: DnsRecords = {
      ...dns,
      mx: async (domain) => {
        if (domain === 'broken.example') throw new TypeError('eve@broken.example');
        return dns.mx(domain);
      },
    };
    t.is(await verifyDueAddresses({ ...builtin.deps, dns: broken }), 1);
    t.is((await contact(builtin, ids.get('fay@mail.example')))!.verification_reason, 'takes_mail');
    let tries = 1;
    for (; (await waiting(builtin, tenant)).length > 0 && tries < 20; tries += 1) {
      clock.set((await waiting(builtin, tenant))[0]!.due_at);
      await verifyDueAddresses({ ...builtin.deps, dns: broken });
    }
    t.is(tries, 8);
    t.like(await contact(builtin, ids.get('eve@broken.example')), {
      verification_status: 'unknown',
      verification_reason: 'check_failed',
    });
  },
);

test.serial('an address that changes while it is looked at is looked at again', async (t) => {
  const tenant = await builtin.tenant();
  const ids = await schedule(builtin, tenant, ['old@null.example']);
  const id = ids.get('old@null.example')!;
  const email = `new-${newId()}@mail.example`;
  const slow: DnsRecords = {
    ...dns,
    mx: async (domain) => {
      if (domain === 'null.example') await builtin.deps.db('contacts').where({ id }).update({ email });
      return dns.mx(domain);
    },
  };
  await verifyDueAddresses({ ...builtin.deps, dns: slow });
  t.is((await contact(builtin, id))!.verification_reason, '', 'the verdict was about another address');
  await verifyDueAddresses(builtin.deps);
  t.is((await contact(builtin, id))!.verification_reason, 'takes_mail');
});

test.serial('with verification off nothing is looked at; a verdict that is there is not asked for', async (t) => {
  const tenant = await builtin.tenant();
  const id = await createContact(builtin.deps.db, clock.now(), tenant.organizationId, { verification_status: 'valid' });
  await transact(builtin.system(tenant.organizationId), (tx) => scheduleVerification(tx, [id]));
  t.is((await waiting(builtin, tenant)).length, 0);
  await schedule(builtin, tenant, ['cy@mail.example']);
  t.is(await verifyDueAddresses({ ...builtin.deps, config: { ...builtin.deps.config, EMAIL_VERIFICATION: 'off' } }), 0);
  t.is((await waiting(builtin, tenant)).length, 1);
});

test.serial('two workers at once look at each address once', async (t) => {
  const tenant = await paid.tenant();
  const emails = Array.from({ length: 25 }, (_, index) => `p${index}@mail.example`);
  await schedule(paid, tenant, emails);
  service.asked = [];
  await Promise.all([verifyDueAddresses(paid.deps), verifyDueAddresses(paid.deps)]);
  await verifyDueAddresses(paid.deps);
  t.deepEqual([...service.asked].sort(), [...emails].sort());
  t.is((await waiting(paid, tenant)).length, 0);
});

test.serial('ZeroBounce: what each of its results means', async (t) => {
  const tenant = await paid.tenant();
  const results: Record<string, [string, string, string, string, boolean]> = {
    'a+tag&x@mail.example': ['valid', '', 'valid', 'valid', false],
    'b@mail.example': ['invalid', 'mailbox_not_found', 'invalid', 'mailbox_not_found', false],
    'c@mail.example': ['catch-all', '', 'risky', 'catch_all', true],
    'd@mail.example': ['spamtrap', '', 'invalid', 'spamtrap', false],
    'e@mail.example': ['abuse', '', 'risky', 'abuse', false],
    'f@mail.example': ['do_not_mail', 'role_based', 'risky', 'role_based', false],
    'g@mail.example': ['unknown', 'antispam_system', 'unknown', 'antispam_system', false],
  };
  for (const [email, [status, detail]] of Object.entries(results))
    service.results.set(email, { status, sub_status: detail });
  service.results.set('later@mail.example', { status: 'unknown', sub_status: 'greylisted' });
  const ids = await schedule(paid, tenant, [...Object.keys(results), 'later@mail.example']);
  t.is(await verifyDueAddresses(paid.deps), Object.keys(results).length);
  for (const [email, [, , status, reason, isCatchAll]] of Object.entries(results))
    t.like(
      await contact(paid, ids.get(email)),
      { verification_status: status, verification_reason: reason, is_catch_all: isCatchAll },
      email,
    );
  t.is((await waiting(paid, tenant)).length, 1);
});

test.serial(
  'ZeroBounce: a refused key, no credits, a limit and a broken answer are asked again and settle nothing',
  async (t) => {
    const tenant = await paid.tenant();
    const ids = await schedule(paid, tenant, ['z@mail.example']);
    const wait = async () => clock.set((await waiting(paid, tenant))[0]!.due_at);
    t.is(await verifyDueAddresses({ ...paid.deps, config: { ...paid.deps.config, ZEROBOUNCE_API_KEY: 'wrong' } }), 0);
    await wait();
    service.credits = 0;
    t.is(await verifyDueAddresses(paid.deps), 0);
    service.credits = 100;
    await wait();
    // Makes several requests fail, because other waiting addresses are checked too.
    service.failing = { status: 429, times: 5 };
    t.is(await verifyDueAddresses(paid.deps), 0);
    service.failing.times = 0;
    await wait();
    await verifyDueAddresses(paid.deps);
    t.is((await contact(paid, ids.get('z@mail.example')))!.verification_status, 'valid');
  },
);

test.serial('addresses of a workspace whose deletion is scheduled are not checked until it is kept', async (t) => {
  const tenant = await builtin.tenant();
  await schedule(builtin, tenant, ['ann@mail.example']);
  const organization = builtin.deps.db('organizations').where({ id: tenant.organizationId });
  await organization.clone().update({ deletion_scheduled_for: clock.now() });
  await verifyDueAddresses(builtin.deps);
  t.like(await waiting(builtin, tenant), [{ attempts: 0 }]);
  await organization.clone().update({ deletion_scheduled_for: null });
  await verifyDueAddresses(builtin.deps);
  t.is((await waiting(builtin, tenant)).length, 0);
});
