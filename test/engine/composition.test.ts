import test from 'ava';
import { startCampaign, stopCampaign } from '../../domain/campaigns/start.ts';
import { appendStep, updateStep } from '../../domain/campaigns/steps.ts';
import { createVariant } from '../../domain/campaigns/variants.ts';
import { validateCampaign } from '../../domain/campaigns/validate.ts';
import { transact } from '../../domain/kernel/transact.ts';
import { addLeads } from '../../domain/leads/leads.ts';
import { advanceEnrollment } from '../../domain/engine/enrollment/advance.ts';
import { deliverSend } from '../../domain/engine/sending/deliver.ts';
import { listBlockedRuns } from '../../domain/step-runs/step-runs.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { createCampaign, createContact, createMailbox, enroll } from '../harness/factories.ts';
import { createFakeSmtp } from '../harness/fake-smtp.ts';
import { createWorld, type World } from '../harness/world.ts';

const clock = new ManualClock(new Date('2026-03-02T08:00:00Z'));
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
});
test.after.always(() => world?.close());

async function given(campaign: Record<string, unknown> = {}) {
  const { organizationId } = await world.tenant();
  await createMailbox(world.deps, organizationId, 'm@s.example.com', { smtp: { host: '127.0.0.1', port: 1 } });
  const { campaignId, stepIds } = await createCampaign(
    world.deps,
    organizationId,
    [{ subject: 'S', body_plain: 'Hello {{.FirstName}}' }],
    campaign,
  );
  const contactId = await createContact(world.deps.db, clock.now(), organizationId);
  const [enrollmentId] = (await enroll(world.deps, organizationId, campaignId, [contactId])) as [string];
  const ctx = world.system(organizationId);
  const step = stepIds[0]!;
  const breakIt = (body = 'Hello {{.FirstName') =>
    world.deps
      .db('campaign_steps')
      .where({ id: step })
      .update({ body_plain: body })
      .then(() => world.deps.db('campaigns').where({ id: campaignId }).increment('graph_version', 1));
  return { organizationId, campaignId, contactId, enrollmentId, ctx, step, breakIt, db: world.deps.db };
}

test.serial('what validation calls an error refuses a start, a restart, and an edit of what is active', async (t) => {
  const { ctx, campaignId, step, breakIt, db, contactId, enrollmentId } = await given({ status: 'draft' });
  await breakIt();
  t.false((await validateCampaign(ctx, campaignId)).valid);
  const refused = await t.throwsAsync(startCampaign(ctx, campaignId), { message: /has an error/ });
  t.like(refused, { code: 'campaign_invalid' });
  await updateStep(ctx, campaignId, step, { body_plain: 'Hello' });
  await startCampaign(ctx, campaignId);
  await t.throwsAsync(updateStep(ctx, campaignId, step, { body_plain: 'Hello {{.FirstName' }));
  await t.throwsAsync(appendStep(ctx, campaignId, { subject: '', body_plain: 'Your code is {{.App.offer.code}}' }));
  await t.throwsAsync(createVariant(ctx, campaignId, { name: 'B', weight: 1, body_plain: 'Hello {{' } as never));
  t.like(await db('campaign_steps').where({ id: step }).first(), { body_plain: 'Hello' });
  // While it is stopped an author may leave it half done.
  await stopCampaign(ctx, campaignId);
  await updateStep(ctx, campaignId, step, { body_plain: 'Hello {{.FirstName' });
  await db('enrollments').where({ id: enrollmentId }).update({ state: 'completed' });
  await db('campaigns').where({ id: campaignId }).update({ status: 'completed' });
  await db('enrollments').where({ contact_id: contactId }).delete();
  await transact(ctx, (tx) => addLeads(tx, campaignId, [contactId]));
  t.like(await db('campaigns').where({ id: campaignId }).first(), { status: 'completed' });
  t.truthy(
    await db('campaign_logs').where({ campaign_id: campaignId, event_type: 'campaign_restart_refused' }).first(),
  );
});

test.serial('an email that cannot be written blocks its contact, and goes when the template is mended', async (t) => {
  const { ctx, campaignId, step, breakIt, db, enrollmentId, organizationId } = await given();
  const smtp = createFakeSmtp();
  const deliver = async () => {
    const decision = await advanceEnrollment(ctx, enrollmentId);
    if (decision.kind !== 'send' && decision.kind !== 'slot') throw new Error(JSON.stringify(decision));
    if (decision.kind === 'slot') clock.set(new Date(Math.max(decision.at, clock.now().getTime())));
    return (await deliverSend(ctx, { smtp }, decision.sendId)).outcome;
  };
  await breakIt();
  t.is(await deliver(), 'blocked');
  t.like(await advanceEnrollment(ctx, enrollmentId), { kind: 'hold', state: 'blocked', until: null });
  t.like(await db('enrollments').where({ id: enrollmentId }).first(), { state: 'active', blocked: true });
  t.deepEqual(await db('sends').where({ enrollment_id: enrollmentId }), []);
  t.deepEqual(await db('daily_counters').where({ organization_id: organizationId }).where('count', '>', 0), []);
  const { rows } = await listBlockedRuns(ctx, campaignId, { limit: 10, cursor: undefined } as never);
  t.is(rows[0]?.error?.code, 'composition_failed');
  await updateStep(ctx, campaignId, step, { body_plain: 'Hello {{.FirstName}}' });
  t.like(await db('enrollments').where({ id: enrollmentId }).first(), { blocked: false });
  t.true((await db('outbox').where({ workflow_id: `enrollment/${campaignId}/${rows[0]!.contact_id}` })).length > 0);
  t.is(await deliver(), 'sent');
  t.is(smtp.taken.length, 1);
});
