import test from 'ava';
import { newId } from '../../lib/ids.ts';
import { createCampaign } from '../../test/harness/factories.ts';
import { assertStatus, call, createWorld, type World } from '../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

/** Creates a campaign whose variants have sent emails and replies. Returns its analysis. */
async function analysed(counts: { sent: number; replied: number }[]) {
  const { db } = world.deps;
  const { organizationId: organization_id, apiKey: token } = await world.tenant();
  const { campaignId, stepIds } = await createCampaign(world.deps, organization_id, [
    { subject: 'S', body_plain: 'b' },
  ]);
  const now = new Date(Date.parse('2026-03-02T08:00:00Z'));
  const variants = counts.map((_, index) => ({
    id: newId(),
    organization_id,
    campaign_id: campaignId,
    step_id: stepIds[0],
    name: String.fromCharCode(65 + index),
    created_at: now,
    updated_at: now,
  }));
  await db('campaign_variants').insert(variants);
  for (const [index, { sent, replied }] of counts.entries()) {
    if (sent === 0) continue;
    await db('sends').insert(
      Array.from({ length: sent }, (_, number) => ({
        id: newId(),
        organization_id,
        campaign_id: campaignId,
        variant_id: variants[index]!.id,
        recipient: 'a@lead.test',
        state: 'sent',
        slot_at: now,
        slot_day: now,
        sent_at: now,
        replied_at: number < replied ? now : null,
        created_at: now,
        updated_at: now,
      })),
    );
  }
  const answer = await call(world, 'GET', `/v1/campaigns/${campaignId}/ab-analysis`, { token });
  return { answer, variants };
}

test('variants are compared with intervals, and a clear one wins', async (t) => {
  const { answer, variants } = await analysed([
    { sent: 200, replied: 4 },
    { sent: 200, replied: 60 },
  ]);
  assertStatus(t, answer, 200);
  const { body } = answer;
  t.like(body, {
    winner_id: variants[1]!.id,
    winner_name: 'B',
    winning_rule: 'reply_rate',
    confidence: 'high',
    steps: [{ winner_id: variants[1]!.id }],
  });
  t.like(body.variants[1], { total_sent: 200, replied: 60, reply_rate: 30, open_rate: 0 });
  // Wilson interval for 60 of 200, from published tables.
  t.deepEqual(body.variants[1].intervals.reply_rate, { low: 24.07, high: 36.68 });
});

test('a small difference has no winner, and a variant without emails the whole range', async (t) => {
  const close = await analysed([
    { sent: 40, replied: 2 },
    { sent: 40, replied: 4 },
  ]);
  t.like(close.answer.body, { winner_id: null, winner_name: null, confidence: 'low' });
  const none = await analysed([
    { sent: 40, replied: 20 },
    { sent: 0, replied: 0 },
  ]);
  t.is(none.answer.body.winner_id, null);
  t.deepEqual(none.answer.body.variants[1].intervals.reply_rate, { low: 0, high: 100 });
});
