import test from 'ava';
import { DAY_MS, HOUR_MS } from '../../lib/clock.ts';
import { newId } from '../../lib/ids.ts';
import { eventually } from '../harness/eventually.ts';
import { skippingTests, type SkippingStage } from '../harness/skipped-time.ts';
import { call } from '../harness/world.ts';
import { startCampaign } from './campaign.ts';
import { timedMailWorld, type TimedMailWorld } from './timed-mail.ts';

const skipping = await skippingTests(test, timedMailWorld);
const DAYS = 30;

/** Creates a lead that waits thirty days for an order. One email follows the event, another one the timeout. */
async function waitingLead(stage: SkippingStage<TimedMailWorld>) {
  const { db } = stage.world.deps;
  const waitStep = {
    type: 'wait_for_event',
    wait_event_name: 'order.paid',
    timeout_minutes: DAYS * 24 * 60,
    on_timeout: 'continue',
    output_key: 'order',
  };
  const lead = await startCampaign(
    stage,
    [
      { kind: 'action', action: waitStep },
      { subject: 'Thank you', body_plain: 'Your order {{.App.order.number}} is on its way.' },
      { subject: 'Still interested?', body_plain: 'You have not ordered.' },
    ],
    {
      link: async ([wait, thanks, reminder]) => {
        const branch = (outcome: string, to: string) => ({
          to,
          when: [{ field: 'node_outcome', operator: 'equals', value: outcome }],
        });
        const branches = [branch('event', thanks!), branch('timeout', reminder!)];
        await db('campaign_steps')
          .where({ id: wait })
          .update({ conditions: JSON.stringify({ branches }) });
        await db('campaign_steps')
          .where({ id: thanks })
          .update({ conditions: JSON.stringify({ branches: [] }) });
      },
    },
  );
  const wait = () => db('waits').where({ contact_id: lead.contactId }).first();
  const { opened_at: openedAt, deadline } = await eventually(wait);
  return {
    ...lead,
    wait,
    openedAt: openedAt as Date,
    deadline: deadline as Date,
    emails: async () => {
      await eventually(async () => (await lead.enrollment()).state === 'completed');
      return Promise.all(
        stage.parts.emailsTo(lead.email).map(async ({ at, message }) => ({
          at,
          subject: (await message.parsed()).subject,
          raw: String(message.raw),
        })),
      );
    },
  };
}

skipping('an event on day 29 of 30 resumes the wait', async (t, stage) => {
  const lead = await waitingLead(stage);
  t.is(lead.deadline.getTime() - lead.openedAt.getTime(), DAYS * DAY_MS);
  await stage.passUntil(lead.openedAt.getTime() + 29 * DAY_MS);
  t.like(await lead.wait(), { state: 'open' });
  const publishedAt = stage.clock.now();
  const published = await call(stage.world, 'POST', '/v1/events', {
    token: lead.tenant.apiKey,
    headers: { 'Idempotency-Key': newId() },
    body: { name: 'order.paid', contact_id: lead.contactId, data: { number: 'A-17' } },
  });
  t.like(published.body, { matched_waits: 1 });
  const emails = await lead.emails();
  t.deepEqual(
    emails.map(({ subject }) => subject),
    ['Thank you'],
  );
  t.regex(emails[0]!.raw, /order A-17/);
  t.true(emails[0]!.at >= publishedAt && emails[0]!.at < lead.deadline, 'it does not wait for the deadline');
  t.like(await lead.wait(), { state: 'resumed' });
  // Passes the deadline, because the timer of the thirty days must have ended with the wait.
  await stage.passUntil(lead.deadline.getTime() + 2 * DAY_MS);
  t.is((await lead.emails()).length, 1);
});

skipping('without an event the branch of the timeout is taken after 30 days', async (t, stage) => {
  const lead = await waitingLead(stage);
  await stage.passUntil(lead.deadline.getTime() - HOUR_MS);
  t.like(await lead.wait(), { state: 'open' });
  t.deepEqual(stage.parts.emailsTo(lead.email), []);
  await stage.passUntil(lead.deadline.getTime() + HOUR_MS);
  const emails = await lead.emails();
  t.deepEqual(
    emails.map(({ subject }) => subject),
    ['Still interested?'],
  );
  t.true(emails[0]!.at >= lead.deadline);
  t.like(await lead.wait(), { state: 'timed_out' });
});
