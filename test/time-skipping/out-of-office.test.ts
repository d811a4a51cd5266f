import test from 'ava';
import { DateTime } from 'luxon';
import { awayMessage } from '../harness/inbound.ts';
import { eventually } from '../harness/eventually.ts';
import { skippingTests } from '../harness/skipped-time.ts';
import { startCampaign } from './campaign.ts';
import { timedMailWorld } from './timed-mail.ts';

const skipping = await skippingTests(test, timedMailWorld);

const ZONE = 'Europe/Berlin';
const MONDAY_TO_FRIDAY = 31;

skipping(
  'a lead who is away over a weekend gets the follow-up on the working day after the return, within the window',
  async (t, stage) => {
    const { clock, parts, world } = stage;
    const now = DateTime.fromJSDate(clock.now(), { zone: ZONE });
    const monday = now.startOf('week').plus({ weeks: 1, hours: 8 });
    await stage.passUntil(monday.toMillis());
    const lead = await startCampaign(
      stage,
      [
        { subject: 'A question', body_plain: 'May I ask something?' },
        { body_plain: 'Did you see my question?', wait_after: 4 },
      ],
      {
        campaign: { timezone: ZONE, days: MONDAY_TO_FRIDAY, start_time: '09:00', end_time: '17:00' },
        mailDomain: 'example.de',
      },
    );
    await stage.passUntil(monday.plus({ hours: 10 }).toMillis());
    const [first] = await eventually(async () => {
      const emails = parts.emailsTo(lead.email);
      return emails.length > 0 && emails;
    });
    const left = DateTime.fromJSDate(first!.at, { zone: ZONE });
    t.true(left.weekday === 1 && left.hour >= 9 && left.hour < 17, left.toISO()!);

    // The lead is away from Thursday evening until Sunday. The hold ends after that weekend, later than Friday, when
    // the follow-up would be due.
    const thursday = monday.plus({ days: 3, hours: 11 });
    await stage.passUntil(thursday.toMillis());
    const back = monday.plus({ days: 6 });
    const { messageId } = await first!.message.parsed();
    lead.box.deliver(
      awayMessage(
        { messageId: messageId!, from: lead.box.email, to: lead.email },
        `I am out of the office until ${back.setLocale('en').toFormat('cccc, d LLLL yyyy')}.`,
      ),
    );
    const held = await eventually(async () => {
      const row = await lead.enrollment();
      return row.hold_until !== null && row;
    });
    const reason = { code: 'away.until', values: { at: back.toISODate() } };
    t.like(held, { state: 'active', hold_source: 'out_of_office', hold_reason: reason });
    const workingDay = monday.plus({ weeks: 1 });
    t.deepEqual(held.hold_until, workingDay.startOf('day').toJSDate());

    await stage.passUntil(workingDay.startOf('day').toMillis());
    t.is(parts.emailsTo(lead.email).length, 1, 'the follow-up was due on Friday');
    await stage.passUntil(workingDay.endOf('day').toMillis());
    await eventually(async () => (await lead.enrollment()).state === 'completed');
    const [, followUp, ...more] = parts.emailsTo(lead.email);
    t.deepEqual(more, []);
    const leftAt = DateTime.fromJSDate(followUp!.at, { zone: ZONE });
    t.is(leftAt.toISODate(), workingDay.toISODate());
    t.true(leftAt.hour >= 9 && leftAt.hour < 17, leftAt.toISO()!);
    t.is((await followUp!.message.parsed()).inReplyTo, messageId);
    const sends = await world.deps.db('sends').where({ campaign_id: lead.campaignId }).orderBy('sent_at');
    t.deepEqual(
      sends.map(({ state }) => state),
      ['sent', 'sent'],
    );
  },
);
