import test from 'ava';
import { startCampaign, stopCampaign } from '../../domain/campaigns/start.ts';
import { appendStep, deleteStep, updateStep } from '../../domain/campaigns/steps.ts';
import { createVariant } from '../../domain/campaigns/variants.ts';
import { validateCampaign } from '../../domain/campaigns/validate.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { addLeads } from '../../domain/audience/leads/add.ts';
import { addSuppressions } from '../../domain/audience/suppressions/entries.ts';
import { listBlockedRuns } from '../../domain/campaigns/step-runs/step-runs.ts';
import { createContact } from '../harness/factories.ts';
import { createLead, createMondayWorld, MONDAY } from '../harness/lead.ts';

const stage = await createMondayWorld(test);

async function createNamedLead(campaign: Record<string, unknown> = {}) {
  const lead = await createLead(stage, [{ subject: 'S', body_plain: 'Hello {{.FirstName}}' }], { campaign });
  const { campaignId, db } = lead;
  const step = lead.stepIds[0]!;
  const breakTemplate = async () => {
    await db('campaign_steps').where({ id: step }).update({ body_plain: 'Hello {{.FirstName' });
    await db('campaigns').where({ id: campaignId }).increment('graph_version', 1);
  };
  return { ...lead, step, breakTemplate };
}

test.serial('what validation calls an error refuses a start, a restart, and an edit of what is active', async (t) => {
  const { ctx, campaignId, step, breakTemplate, db, contactId, enrollmentId } = await createNamedLead({
    status: 'draft',
  });
  await breakTemplate();
  t.false((await validateCampaign(ctx, campaignId)).valid);
  const refused = await t.throwsAsync(startCampaign(ctx, campaignId), { message: /has an error/ });
  t.like(refused, { code: 'campaign_invalid' });
  await updateStep(ctx, campaignId, step, { body_plain: 'Hello' });
  await startCampaign(ctx, campaignId);
  await t.throwsAsync(updateStep(ctx, campaignId, step, { body_plain: 'Hello {{.FirstName' }));
  await t.throwsAsync(appendStep(ctx, campaignId, { subject: '', body_plain: 'Your code is {{.App.offer.code}}' }));
  await t.throwsAsync(createVariant(ctx, campaignId, { name: 'B', weight: 1, body_plain: 'Hello {{' } as never));
  t.like(await db('campaign_steps').where({ id: step }).first(), { body_plain: 'Hello' });
  // While the campaign is stopped, its steps may be incomplete.
  await stopCampaign(ctx, campaignId);
  await updateStep(ctx, campaignId, step, { body_plain: 'Hello {{.FirstName' });
  await db('enrollments').where({ id: enrollmentId }).update({ state: 'completed' });
  await db('campaigns').where({ id: campaignId }).update({ status: 'completed' });
  await db('enrollments').where({ contact_id: contactId }).delete();
  await transact(ctx, (tx) => addLeads(tx, ctx.config, campaignId, [contactId]));
  t.like(await db('campaigns').where({ id: campaignId }).first(), { status: 'completed' });
  t.truthy(
    await db('campaign_logs').where({ campaign_id: campaignId, event_type: 'campaign_restart_refused' }).first(),
  );
});

test.serial('an active campaign takes no empty step, with or without other fields; a stopped one does', async (t) => {
  const { ctx, campaignId, stepIds, db } = await createNamedLead();
  const steps = () => db('campaign_steps').where({ campaign_id: campaignId }).orderBy('position').pluck('id');
  for (const input of [{}, { name: 'Later' }, { subject: '', body_plain: ' ' }]) {
    const refused = await t.throwsAsync(appendStep(ctx, campaignId, input), undefined, JSON.stringify(input));
    t.like(refused, { code: 'bad_request' });
  }
  t.like(await t.throwsAsync(updateStep(ctx, campaignId, stepIds[0]!, { body_plain: '' })), { code: 'bad_request' });
  t.like(await t.throwsAsync(updateStep(ctx, campaignId, stepIds[0]!, { subject: '' })), { code: 'bad_request' });
  t.deepEqual(await steps(), stepIds);
  await appendStep(ctx, campaignId, { body_plain: 'Later' });
  await stopCampaign(ctx, campaignId);
  await appendStep(ctx, campaignId);
  t.is((await steps()).length, 3);
});

test.serial('an app_action whose connection is null is listed as an error', async (t) => {
  const { ctx, campaignId, stepIds, db } = await createNamedLead({ status: 'draft' });
  const action = { type: 'app_action', app_connection_id: null, path: '/offer', output_key: 'offer', inputs: {} };
  await db('campaign_steps')
    .where({ id: stepIds[0]! })
    .update({ kind: 'action', action: JSON.stringify(action) });
  const { valid, problems } = await validateCampaign(ctx, campaignId);
  t.false(valid);
  t.like(
    problems.find(({ code }) => code === 'finding.step_no_connection'),
    { stepId: stepIds[0], severity: 'error' },
  );
});

test.serial('a step that a later one needs stays in an active campaign, and goes from a stopped one', async (t) => {
  const action = {
    type: 'wait_for_event',
    wait_event_name: 'offer.made',
    timeout_minutes: 60,
    on_timeout: 'continue',
    output_key: 'offer',
  };
  const { ctx, campaignId, stepIds, db } = await createLead(stage, [
    { kind: 'action', action },
    { subject: 'S', body_plain: 'Your code is {{.App.offer.code}}' },
  ]);
  const remaining = () => db('campaign_steps').where({ campaign_id: campaignId }).orderBy('position').pluck('id');
  const refused = await t.throwsAsync(deleteStep(ctx, campaignId, stepIds[0]!));
  t.like(refused, { code: 'bad_request' });
  t.deepEqual(await remaining(), stepIds, 'the email would ask for a code that no step brings');
  await stopCampaign(ctx, campaignId);
  await deleteStep(ctx, campaignId, stepIds[0]!);
  t.deepEqual(await remaining(), stepIds.slice(1));
  t.false((await validateCampaign(ctx, campaignId)).valid);
});

test.serial('an email that cannot be written blocks its contact, and goes when the template is mended', async (t) => {
  const lead = await createNamedLead();
  const { ctx, campaignId, step, breakTemplate, db, enrollmentId, organizationId } = lead;
  const deliver = async () => (await lead.deliver(await lead.reserve())).outcome;
  await breakTemplate();
  t.is(await deliver(), 'blocked');
  t.like(await lead.advance(), { kind: 'hold', state: 'blocked', until: null });
  t.like(await db('enrollments').where({ id: enrollmentId }).first(), { state: 'active', blocked: true });
  t.deepEqual(await db('sends').where({ enrollment_id: enrollmentId }), []);
  t.deepEqual(await db('daily_counters').where({ organization_id: organizationId }).where('count', '>', 0), []);
  const { rows } = await listBlockedRuns(ctx, campaignId, { limit: 10, cursor: undefined } as never);
  t.is(rows[0]?.error?.code, 'composition_failed');
  await updateStep(ctx, campaignId, step, { body_plain: 'Hello {{.FirstName}}' });
  t.like(await db('enrollments').where({ id: enrollmentId }).first(), { blocked: false });
  t.true((await db('outbox').where({ workflow_id: `enrollment/${campaignId}/${rows[0]!.contact_id}` })).length > 0);
  t.is(await deliver(), 'sent');
  t.is(lead.smtp.taken.length, 1);
});

test.serial('no copy goes to an address that is suppressed or has opted out, and the log says so once', async (t) => {
  const [boss, gone, out] = ['boss@x.example', 'gone@x.example', 'out@x.example'] as const;
  const lead = await createLead(stage, [{ subject: 'S', body_plain: 'b' }, { body_plain: 'c' }], {
    campaign: { cc: [boss, gone], bcc: [out] },
  });
  const { ctx, db, campaignId, organizationId, smtp } = lead;
  await addSuppressions(ctx, [{ value: gone }], '');
  await createContact(db, MONDAY, organizationId, { email: out, subscribed: false });
  for (let emails = 0; emails < 2; emails += 1)
    t.deepEqual(await lead.deliver(await lead.reserve()), { outcome: 'sent' });
  for (const { to, raw } of smtp.taken) {
    t.is(to.length, 2);
    t.true(to.includes(boss));
    t.false(raw.includes(gone) || raw.includes(out));
  }
  const log = await db('campaign_logs').where({ campaign_id: campaignId, event_type: 'copies_left_out' });
  t.deepEqual(
    log.map(({ message, metadata }) => [message, metadata]),
    [[{ code: 'log.copies_left_out', values: { count: 2 } }, { count: 2 }]],
  );
});
