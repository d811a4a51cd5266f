import test from 'ava';
import { claimSend } from '../../domain/sending/claim.ts';
import { reconcile } from '../../domain/operations/system/reconcile.ts';
import { DAY_MS } from '../../lib/clock.ts';
import { hashPassword } from '../../lib/crypto.ts';
import { newId } from '../../lib/ids.ts';
import { createCampaign, createContact, createMailbox, createMember, enroll } from '../harness/factories.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { PASSWORD } from '../harness/people.ts';
import { plainRun } from '../harness/plain-history.ts';
import { assertNowhere } from '../harness/secrets.ts';
import { assertStatus, call, createWorld, type World } from '../harness/world.ts';

const CURRENT = '/v1/organizations/current';
const clock = new ManualClock(new Date('2026-03-09T09:00:00Z'));
let world: World;
let engine: Engine;
test.before(async () => {
  world = await createWorld({ clock });
  engine = await startEngine(world);
});
test.after.always(async () => {
  await engine?.stop();
  await world?.close();
});

const send = (token: string, method: string, path: string, body?: unknown) => call(world, method, path, { token, body });
const deletionOf = (subject: string) => world.deps.db('deletions').where({ subject_id: subject }).orderBy('id', 'desc').first();
const mailsTo = (email: string) => world.outgoing.filter(({ to }) => to === email).map(({ subject }) => subject);
/** Lets a waiting run ask again, as its timer would at that time. */
const wake = async (id: string) =>
  engine.temporal.workflow.getHandle(`deletion/${id}`).signal('changed', { cause: 'called_back' });

test.serial('a workspace is stopped, called back, and erased after 14 days with its runs', async (t) => {
  const tenant = await world.tenant('Blue');
  const { organizationId, sessionToken } = tenant;
  const mailboxId = await createMailbox(world.deps, organizationId, `${newId()}@ours.test`);
  const { campaignId, stepIds } = await createCampaign(world.deps, organizationId, [{ wait: 30 * DAY_MS / 60_000, subject: 'S', body_plain: 'b' } as never], { status: 'active' } as never);
  const contactId = await createContact(world.deps.db, clock.now(), organizationId, { email: 'lea@else.test' });
  await enroll(world.deps.db, { organizationId, campaignId, contactId } as never);
  t.truthy(mailboxId && stepIds);
});
