import test from 'ava';
import { pauseCampaign } from '../../domain/sending/control/status.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { launchDueLeads } from '../../domain/sending/enrollment/launch.ts';
import { readStory } from '../../domain/sending/enrollment/story.ts';
import { listLeads } from '../../domain/sending/leads/list.ts';
import { message } from '../../messages/index.ts';
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
  const { ctx, db, organizationId, campaignId, stepIds } = lead;
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
    stepIds,
    /** Runs the launcher until it waits. Returns the ids of the contacts whose runs were signalled, in order. */
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
  await transact(g.ctx, (tx) => pauseCampaign(tx, g.campaignId, 'paused', message('log.no_mailbox')));
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
