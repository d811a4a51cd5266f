import test from 'ava';
import { DAY_MS, MINUTE_MS } from '../../lib/clock.ts';
import { eventually } from '../harness/eventually.ts';
import { openRunDesk } from '../harness/run-desk.ts';
import { skippingTests } from '../harness/skipped-time.ts';
import { timedMailWorld } from './timed-mail.ts';

const skipping = await skippingTests(test, timedMailWorld);

skipping('a run that nobody decides on is denied after its 30 minutes, and nothing leaves', async (t, stage) => {
  const { clock, parts } = stage;
  const email = 'undecided@ours.test';
  const desk = await openRunDesk(stage.world, { email, servers: await parts.addMailbox(email) });
  const { id } = await desk.create({ leads: [{ email: 'undecided@example.com' }] });
  const { expires_at: expiresAt } = await eventually(async () => {
    const row = await desk.row(id);
    return row.state === 'awaiting_approval' && row;
  });
  const openMs = expiresAt!.getTime() - clock.now().getTime();
  t.true(openMs > 29 * MINUTE_MS && openMs <= 30 * MINUTE_MS, 'the duration of production');
  await stage.passUntil(expiresAt!.getTime() - MINUTE_MS);
  t.is((await desk.row(id)).state, 'awaiting_approval', 'a minute before it is over');
  await stage.passUntil(expiresAt!.getTime() + MINUTE_MS);
  const denied = await eventually(async () => {
    const row = await desk.row(id);
    return row.state === 'denied' && row;
  });
  t.like(denied.error_details, { code: 'approval_expired' });
  t.is(await stage.engine.temporal.workflow.getHandle(`run/${id}`).result(), 'denied');
  await stage.passUntil(clock.now().getTime() + 7 * DAY_MS);
  t.is((await desk.campaign(id)).status, 'draft');
  t.deepEqual(parts.emailsTo('undecided@example.com'), []);
});

skipping('a run that is approved in its 29th minute is carried out', async (t, stage) => {
  const { parts } = stage;
  const email = 'decided@ours.test';
  const desk = await openRunDesk(stage.world, { email, servers: await parts.addMailbox(email) });
  const { id } = await desk.create({ leads: [{ email: 'decided@example.com' }] });
  const { expires_at: expiresAt } = await eventually(async () => {
    const row = await desk.row(id);
    return row.state === 'awaiting_approval' && row;
  });
  await stage.passUntil(expiresAt!.getTime() - MINUTE_MS);
  const decidedAt = stage.clock.now().getTime();
  await desk.decide(id, 'approved');
  await eventually(async () => (await desk.row(id)).state === 'active');
  t.is(await stage.engine.temporal.workflow.getHandle(`run/${id}`).result(), 'active');
  // Long enough for a weekend and the three days until the follow-up.
  await stage.passUntil(decidedAt + 14 * DAY_MS);
  await eventually(async () => (await desk.campaign(id)).status === 'completed');
  const emails = parts.emailsTo('decided@example.com');
  t.is(emails.length, 2);
  t.true(emails[0]!.at.getTime() >= decidedAt);
  t.true(emails[1]!.at.getTime() - emails[0]!.at.getTime() >= 3 * DAY_MS, 'the follow-up waits its three days');
});
