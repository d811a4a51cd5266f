import test from 'ava';
import { lockCampaign, activateCampaign, pauseCampaign } from '../../domain/sending/control/status.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { launchDueLeads } from '../../domain/sending/enrollment/launch.ts';
import { readStory } from '../../domain/sending/enrollment/story.ts';
import { listLeads } from '../../domain/sending/leads/list.ts';
import { deleteStep, updateStep } from '../../domain/campaigns/steps.ts';
import { updateMailbox } from '../../domain/mailboxes/update.ts';
import { updateCampaign } from '../../domain/campaigns/update.ts';
import { message } from '../../messages/index.ts';
import { externalText } from '../../domain/platform/external-text.ts';
import { createContact, enroll, type StepSpec } from '../harness/factories.ts';
import { createLead, createMondayWorld } from '../harness/lead.ts';
import { OrgScope } from '../../db/tenancy.ts';
import { advanceEnrollment } from '../../domain/sending/enrollment/advance.ts';

const stage = await createMondayWorld(test);
const { clock } = stage;

const WAIT: StepSpec = { kind: 'wait', action: { type: 'wait', wait_minutes: 600 } };
const EMAIL: StepSpec = { subject: 'S', body_plain: 'b' };

/** Creates a campaign whose first lead has a slot and whose other leads wait in a step of several hours. */
async function crowd(others: number) {
  const lead = await createLead(stage, [EMAIL, WAIT, EMAIL]);
  const { ctx, db, organizationId, campaignId } = lead;
  const contacts = [];
  for (let n = 0; n < others; n += 1)
    contacts.push(await createContact(db, clock.now(), organizationId, { email: `c${n}@crowd.example.org` }));
  const waiting = await enroll(stage.world.deps, organizationId, campaignId, contacts);
  for (const id of waiting) {
    await advanceEnrollment(ctx, id);
    await db('sends').where({ enrollment_id: id }).update({ state: 'sent', sent_at: clock.now() });
    await advanceEnrollment(ctx, id);
  }
  await lead.advance();
  await db('outbox').delete();
  return {
    ...lead,
    waiting,
    async pause() {
      await transact(ctx, (tx) => pauseCampaign(tx, campaignId, 'paused', message('log.no_mailbox')));
    },
    async resume() {
      const restarted = { type: 'campaign_restarted', message: message('log.no_mailbox') } as const;
      await transact(ctx, async (tx) => activateCampaign(tx, await lockCampaign(tx, campaignId), restarted));
    },
    /** Runs the launcher until it waits. Returns the ids of the contacts whose workflows were signalled, in order. */
    async signalled(): Promise<string[]> {
      for (let n = 0; n < 10; n += 1) if ('report' in (await launchDueLeads(ctx, campaignId))) break;
      const rows = await db('outbox').where('workflow_id', 'like', `enrollment/${campaignId}/%`).select('workflow_id');
      await db('outbox').delete();
      return rows.map(({ workflow_id: id }) => id.split('/')[2]).sort();
    },
  };
}

test.serial('a pause signals no run, and its leads show it', async (t) => {
  const g = await crowd(5);
  await g.pause();
  t.deepEqual(await g.signalled(), []);
  t.is(Number((await g.db('sends').where({ campaign_id: g.campaignId, state: 'reserved' })).length), 0);
  const { rows } = await listLeads(g.ctx, g.campaignId, {}, { limit: 10 });
  t.deepEqual(
    rows.map(({ waiting_for: why, waiting_until: until }) => [why?.code, until]),
    rows.map(() => ['wait.campaign_paused', null]),
  );
  const story = await readStory(new OrgScope(stage.world.deps.db, g.organizationId), g.waiting[0]!);
  t.like(story!.now, { waiting_for: { code: 'wait.campaign_paused' }, until: null, blocked: false });
});

test.serial('a resume signals only runs that lost their slot or have woken during the pause', async (t) => {
  const g = await crowd(5);
  await g.pause();
  const woken = await g.db('enrollments').where({ id: g.waiting[0] }).first('contact_id');
  await advanceEnrollment(g.ctx, g.waiting[0]!);
  await g.resume();
  t.deepEqual(await g.signalled(), [g.contactId, woken.contact_id].sort());
  t.deepEqual(await g.signalled(), []);
});

test.serial('a resume signals runs that wait for a mailbox only if their pool changed during the pause', async (t) => {
  const g = await crowd(5);
  const what = message('wait.mailbox_later');
  const waiting_for = message('wait.at_step', { step: externalText('step 3 of 3'), what });
  await g.db('enrollments').whereIn('id', g.waiting).update({ waiting_for });
  await g.pause();
  await g.resume();
  t.deepEqual(await g.signalled(), [g.contactId]);
  await g.pause();
  await updateMailbox(g.ctx, g.mailboxId, { campaign_limit: 2_000 });
  t.deepEqual(await g.signalled(), []);
  await g.resume();
  t.is((await g.signalled()).length, 6);
  t.deepEqual(await g.signalled(), []);
});

test.serial('a decision that began before the resume and commits after it is signalled later', async (t) => {
  const g = await crowd(2);
  await g.pause();
  await g.resume();
  t.deepEqual(await g.signalled(), [g.contactId]);
  // Simulates a workflow that wrote its hold before the campaign was resumed.
  const hold = message('wait.campaign_paused');
  await g.db('enrollments').where({ id: g.waiting[0] }).update({ waiting_for: hold, waiting_until: null });
  clock.set(new Date(clock.now().getTime() + 31_000));
  t.is((await g.signalled()).length, 1);
  t.deepEqual((await g.db('campaigns').where({ id: g.campaignId }).first()).rechecks, []);
});

test.serial('an edited schedule signals the runs with a slot, not those in a wait', async (t) => {
  const g = await crowd(5);
  await updateCampaign(g.ctx, g.campaignId, { end_time: '22:00' });
  t.deepEqual(await g.signalled(), [g.contactId]);
});

test.serial('an edit during a pause signals its runs at the resume', async (t) => {
  const g = await crowd(3);
  await g.pause();
  await updateStep(g.ctx, g.campaignId, g.stepIds[1]!, { action: { type: 'wait', wait_minutes: 30 } });
  t.deepEqual(await g.signalled(), []);
  await g.resume();
  t.is((await g.signalled()).length, 4);
});

test.serial('an edited step signals the runs at it, and a removed one too; a changed email signals none', async (t) => {
  const g = await crowd(3);
  await updateStep(g.ctx, g.campaignId, g.stepIds[2]!, { wait_after: 4 });
  t.deepEqual(await g.signalled(), []);
  await updateStep(g.ctx, g.campaignId, g.stepIds[1]!, { action: { type: 'wait', wait_minutes: 700 } });
  const waiting = await g.db('enrollments').whereIn('id', g.waiting).select('contact_id');
  const contacts = waiting.map(({ contact_id: id }) => id).sort();
  t.deepEqual(await g.signalled(), contacts);
  await deleteStep(g.ctx, g.campaignId, g.stepIds[1]!);
  t.deepEqual(await g.signalled(), contacts);
});
