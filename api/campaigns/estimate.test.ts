import test from 'ava';
import { createWorld, type World } from '../../test/harness/world.ts';
import { openDesk, problemPaths } from '../../test/harness/campaign-desk.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

test('an estimate counts people once, the daily limit for the whole campaign, and writes nothing', async (t) => {
  const desk = await openDesk(world);
  const segment = await desk.segment();
  for (let n = 0; n < 25; n += 1) await desk.contact();
  // Creates contacts that cannot become leads.
  await desk.contact({ subscribed: false });
  await desk.contact({ verification_status: 'invalid' });
  await desk.contact({ email: 'asked-us-to-stop@example.com' });
  await desk.call('POST', '/suppressions', { entries: [{ value: 'asked-us-to-stop@example.com' }], reason: 'asked' });
  await desk.mailbox({ campaign_limit: 4 });
  await desk.mailbox({ campaign_limit: 100, min_wait_time: 600 });
  await desk.mailbox({ status: 'inactive' });
  const estimate = (body: object) =>
    desk.call('POST', '/campaigns-estimate', { segment_ids: [segment, segment], daily_limit: 6, days: 127, ...body });
  const answer = await estimate({});
  t.is(answer.status, 200, answer.text);
  t.like(answer.body, { recipients: 25, mailboxes: 2, daily_capacity: 6 });
  // The number of emails left today depends on the time of the test.
  t.true(answer.body.remaining_today <= 6);
  t.true([5, 6].includes(answer.body.sending_days));
  t.like((await estimate({ daily_limit: 500 })).body, { daily_capacity: 4 + 48 });
  const tag = await desk.label('tag');
  t.like((await estimate({ email_tag_ids: [tag] })).body, {
    mailboxes: 0,
    sending_days: null,
    estimated_finish_at: null,
  });
  t.like((await estimate({ segment_ids: [] })).body, { recipients: 0, sending_days: null });
  t.deepEqual(problemPaths(await estimate({ days: 128, timezone: 'X', start_date: 'soon', email_tag_ids: ['x'] })), [
    'body.days',
    'body.email_tag_ids.0',
    'body.start_date',
    'body.timezone',
  ]);
  t.is((await estimate({ segment_ids: Array.from({ length: 21 }, () => segment) })).status, 400);
  const inTokyo = { timezone: 'Asia/Tokyo', start_date: '2030-01-10T00:00:00Z', daily_limit: 500 };
  const begins = async (body: object) => (await estimate({ ...inTokyo, ...body })).body.estimated_finish_at;
  t.regex(await begins({ start_time: '12:00', end_time: '13:00' }), /^2030-01-1\dT03:/);
  const late = Array.from({ length: 7 }, () => [{ start: 23 * 60, end: 24 * 60 - 1 }]);
  t.regex(await begins({ schedule_windows: late }), /^2030-01-1\dT14:/);
  t.is(await begins({ end_date: '2030-01-10T00:30:00Z' }), null);
  t.deepEqual(problemPaths(await estimate({ start_time: '24:00', end_time: 'x', end_date: 'never' })), [
    'body.end_date',
    'body.end_time',
    'body.start_time',
  ]);
  t.is((await desk.call('GET', '/campaigns')).body.pagination.total, 0);
});
