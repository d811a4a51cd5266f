import test from 'ava';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { evaluateHealth } from '../../domain/mailboxes/warmup/health.ts';
import { planDay } from '../../domain/mailboxes/warmup/plan.ts';
import { DAY_MS, MINUTE_MS } from '../../lib/clock.ts';
import { newId } from '../../lib/ids.ts';
import { createMailbox } from '../harness/factories.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { createWorld } from '../harness/world.ts';

const SERVER = { host: '127.0.0.1', port: 1 };

test('times of a day are spread over the hours, uneven, and others every day; a health that falls leaves fewer of them', async (t) => {
  const clock = new ManualClock(new Date('2026-05-04T00:00:00Z'));
  const played = await createWorld({ clock });
  t.teardown(() => played.close());
  const tenant = await played.tenant();
  const ctx = played.system(tenant.organizationId);
  const { db } = played.deps;
  const ids: string[] = [];
  for (let i = 0; i < 30; i += 1) {
    const fields = {
      warmup: new Date(clock.now().getTime() - 30 * DAY_MS),
      min_wait_time: 300,
      campaign_limit: 60,
      warmup_max: 20,
    };
    ids.push(
      await createMailbox(
        played.deps,
        tenant.organizationId,
        `h${i}@human.test`,
        { smtp: SERVER, imap: SERVER },
        { ...fields, warmup_days: 127 },
      ),
    );
    await db('warmup_standings').insert({ mailbox_id: ids[i], organization_id: tenant.organizationId });
  }
  await planDay(ctx);
  const times = async (id: string) =>
    (
      await db('warmup_mails')
        .where({ mailbox_id: id, slot_day: clock.now().toISOString().slice(0, 10) })
        .orderBy('slot_at')
    ).map(({ slot_at: at }) => (at as Date).getTime() % DAY_MS);
  const [all, gaps, seconds]: [number[], number[], Set<number>] = [[], [], new Set()];
  for (const id of ids) {
    const own = await times(id);
    all.push(...own);
    for (const [index, at] of own.entries()) {
      if (index > 0) gaps.push(at - own[index - 1]!);
      seconds.add(Math.floor(at / 1000) % 60);
    }
  }
  const perHour = Array.from(
    { length: 8 },
    (_, hour) => all.filter((at) => Math.floor(at / (60 * MINUTE_MS)) === 9 + hour).length,
  );
  t.true(
    all.length > 500 && perHour.every((count) => count > all.length / 8 / 2 && count < (all.length / 8) * 2),
    perHour.join(),
  );
  // The times have no regular rhythm: the intervals vary by more than half their mean, and almost every second of a
  // minute occurs.
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  const spread = Math.sqrt(gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length);
  t.true(spread > mean / 2, `${spread} of ${mean}`);
  t.true(seconds.size > 50);
  const firstDay = await times(ids[0]!);
  clock.advance(DAY_MS);
  await planDay(ctx);
  t.notDeepEqual(await times(ids[0]!), firstDay);

  // Half of this mailbox's emails land in spam. Its planned emails are sent, but no new ones are planned.
  const [sick, friend] = ids as [string, string];
  const before = (await times(sick)).length;
  for (let landed = 0; landed < 10; landed += 1)
    await db('warmup_mails').insert({
      id: newId(),
      organization_id: tenant.organizationId,
      mailbox_id: sick,
      partner_id: friend,
      state: 'sent',
      slot_at: clock.now(),
      slot_day: '2026-05-01',
      landed: landed < 4 ? 'spam' : 'inbox',
      landed_at: clock.now(),
      created_at: clock.now(),
    });
  await transact(ctx, (tx) => evaluateHealth(tx, sick));
  t.is((await times(sick)).length, 0);
  await planDay(ctx);
  const throttled = (await times(sick)).length;
  t.true(throttled > 0 && throttled <= before / 2 + 1, `${throttled} of ${before}`);
  await db('warmup_mails').where({ mailbox_id: sick, landed: 'inbox' }).update({ landed: 'spam' });
  await transact(ctx, (tx) => evaluateHealth(tx, sick));
  await planDay(ctx);
  t.is((await times(sick)).length, 0);
  const counted = await db('daily_counters').where({ scope_id: sick, day: '2026-05-05' }).first();
  t.is(counted.count, 0);
  t.like(await db('warmup_standings').where({ mailbox_id: sick }).first(), { health_state: 'blocked' });
});
