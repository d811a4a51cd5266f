import test from 'ava';
import { createCampaign, createContact, createMailbox, enroll, type StepSpec } from '../harness/factories.ts';
import { advanceEnrollment } from '../../domain/sending/enrollment/advance.ts';
import { launchDueLeads } from '../../domain/sending/enrollment/launch.ts';
import { removeLead } from '../../domain/sending/leads/hold.ts';
import { addCampaignLeads } from '../../domain/audience/leads/add.ts';
import { createLead, createMondayWorld, MONDAY } from '../harness/lead.ts';
import { reconciledFamilies } from '../../domain/operations/system/reconcile.ts';

/** In these tests, the launcher runs again after waits up to this time (ms). */
const SHORT_MS = 5_000;
const MINUTE = 60_000;
const DAY = 86_400_000;
const stage = await createMondayWorld(test);
const { world, clock } = stage;

async function given(steps: StepSpec[], leads: number, campaign: Record<string, unknown> = {}) {
  const { organizationId } = await world.tenant();
  const { db } = world.deps;
  await createMailbox(world.deps, organizationId, 'm@s.example.com');
  const { campaignId, stepIds } = await createCampaign(world.deps, organizationId, steps, campaign);
  const contacts: string[] = [];
  for (let n = 0; n < leads; n += 1) contacts.push(await createContact(db, clock.now(), organizationId));
  const enrollments = await enroll(world.deps, organizationId, campaignId, contacts);
  const ctx = world.system(organizationId);
  return {
    db,
    ctx,
    campaignId,
    stepIds,
    enrollments,
    contacts,
    /**
     * Runs launcher iterations until the launcher waits for more than `SHORT_MS`. Returns its wake-up time (epoch ms).
     */
    async launch(): Promise<number | null> {
      for (let turns = 0; turns < 200; turns += 1) {
        const turn = await launchDueLeads(ctx, campaignId);
        const wakeAt =
          'report' in turn ? (turn.report.kind === 'wait' ? turn.report.wakeAt : null) : clock.now().getTime();
        const waitMs = wakeAt === null ? Infinity : wakeAt - clock.now().getTime();
        if (waitMs > SHORT_MS) return wakeAt;
        clock.advance(waitMs);
        for (const row of await db('enrollments').where({
          campaign_id: campaignId,
          state: 'active',
          current_step_id: null,
        }))
          await advanceEnrollment(ctx, row.id);
      }
      throw new Error('the launcher spins');
    },
    open: async () => (await db('enrollments').where({ campaign_id: campaignId, state: 'active' })).length,
    /** Returns the workflows that reconciliation would start. */
    mustRun: async () =>
      (
        await reconciledFamilies(world.deps)
          .find(({ contract }) => contract.kind === 'enrollment')!
          .mustBeOpen.only(
            world.deps.db as never,
            contacts.map((contact) => `${campaignId}/${contact}`),
          )
      ).length,
  };
}

const email: StepSpec = { subject: 'S', body_plain: 'b' };
const wait = (minutes: number): StepSpec => ({ kind: 'wait', action: { type: 'wait', wait_minutes: minutes } });

test.serial(
  'leads wait as rows for the wait their campaign begins with, and get the first email at its end',
  async (t) => {
    const g = await given([wait(90), email], 60);
    t.is(await g.launch(), MONDAY.getTime() + 90 * MINUTE);
    t.is(await g.open(), 0);
    clock.set(new Date(MONDAY.getTime() + 90 * MINUTE));
    await g.launch();
    t.true((await g.open()) > 0);
    t.is(await g.mustRun(), await g.open(), 'only what is open must run');
    const [row] = await g.db('enrollments').where({ campaign_id: g.campaignId, state: 'active' });
    const decision = await advanceEnrollment(g.ctx, row.id);
    t.regex(decision.kind, /^(slot|send)$/, 'its slot was reserved before the run was opened');
    t.deepEqual(
      (await g.db('step_runs').where({ enrollment_id: row.id }).orderBy('seq')).map((run) => [run.kind, run.state]),
      [
        ['wait', 'completed'],
        ['email', 'running'],
      ],
    );
  },
);

test.serial('a wait begins with the start of the campaign for leads who were there before', async (t) => {
  const g = await given([wait(60), email], 1, { started_at: new Date(MONDAY.getTime() + 30 * MINUTE) });
  clock.set(new Date(MONDAY.getTime() + 60 * MINUTE));
  t.is(await g.launch(), MONDAY.getTime() + 90 * MINUTE);
  t.is(await g.open(), 0);
});

test.serial('a first email that waits for its day keeps its leads as rows as well', async (t) => {
  const g = await given([{ ...email, wait_after: 2 }], 30);
  t.is(await g.launch(), MONDAY.getTime() + 2 * DAY);
  t.is(await g.open(), 0);
});

test.serial(
  'a campaign that begins with an app call opens twice as many runs as it can send, and more as they leave',
  async (t) => {
    const tag: StepSpec = { kind: 'action', action: { type: 'notify', message: 'hello' } };
    const g = await given([tag, email], 80, { daily_limit: 8, start_time: '09:00', end_time: '17:00' });
    await g.launch();
    t.is(await g.open(), 24, 'eight have the slots of the day, sixteen are next');
    t.is(await g.mustRun(), 24);
    const rows = await g
      .db('enrollments')
      .where({ campaign_id: g.campaignId, state: 'active', mailbox_id: null })
      .limit(8);
    const [mailbox] = await g.db('mailboxes').where({ organization_id: rows[0].organization_id });
    await g
      .db('enrollments')
      .whereIn(
        'id',
        rows.map(({ id }) => id),
      )
      .update({ mailbox_id: mailbox.id });
    await g.launch();
    t.is(await g.open(), 32);
  },
);

test.serial('leads who wait for an event do not keep others from waiting for theirs', async (t) => {
  const event: StepSpec = {
    kind: 'wait',
    action: { type: 'wait_for_event', wait_event_name: 'order.paid', timeout_minutes: 600, on_timeout: 'continue' },
  };
  const g = await given([event, email], 60, { daily_limit: 2 });
  await g.launch();
  t.is(await g.open(), 60);
});

test.serial('a contact that comes back is not sent a step that it has got, unless that is asked for', async (t) => {
  const lead = await createLead(stage, [email, { body_plain: 'two', thread_reply: true, wait_after: 1 }]);
  const { ctx, db, campaignId, contactId, smtp } = lead;
  await lead.deliver(await lead.reserve());
  const comeBack = async (restart?: boolean) => {
    await removeLead(ctx, campaignId, contactId);
    await addCampaignLeads(ctx, campaignId, { contactIds: [contactId], segmentIds: [], restart });
    for (
      let turn = await launchDueLeads(ctx, campaignId);
      'again' in turn;
      turn = await launchDueLeads(ctx, campaignId)
    );
    return advanceEnrollment(ctx, { campaignId, contactId });
  };
  const emails = () => db('sends').where({ contact_id: contactId }).orderBy('id').pluck('step_id');
  t.like(await comeBack(), { kind: 'wait', until: clock.now().getTime() + DAY, step: 'step 2 of 2' });
  t.deepEqual(await emails(), [lead.stepIds[0]], 'no slot was taken for the first one');
  clock.advance(DAY);
  const next = await advanceEnrollment(ctx, { campaignId, contactId });
  if (next.kind !== 'send' && next.kind !== 'slot') throw new Error(next.kind);
  if (next.kind === 'slot') clock.set(new Date(next.at));
  t.deepEqual(await lead.deliver(next.sendId), { outcome: 'sent' });
  t.regex(smtp.taken[1]!.raw, new RegExp(`^In-Reply-To: ${smtp.taken[0]!.messageId}`, 'm'));
  t.like(await db('sends').where({ id: next.sendId }).first(), { is_first: false, mailbox_id: lead.mailboxId });
  t.deepEqual(await comeBack(), { kind: 'done', outcome: 'completed' }, 'it has got them all');
  t.regex((await comeBack(true)).kind, /^(slot|send)$/);
  t.deepEqual(await emails(), [...lead.stepIds, lead.stepIds[0]]);
});
