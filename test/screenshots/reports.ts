import type { Page } from 'playwright-core';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { addDeadLetter, REPLAY_EVENT } from '../../domain/platform/dead-letters.ts';
import { newId } from '../../lib/ids.ts';
import { createMailbox } from '../harness/factories.ts';
import { createSentHistory } from '../harness/sent-history.ts';
import { HOSTILE, WIDE, type PageToSee, type Stage } from './stage.ts';
import { message } from '../../messages/index.ts';

async function openCost(page: Page): Promise<void> {
  await page
    .getByRole('button', { name: /Cost of/ })
    .first()
    .click();
  await page.getByRole('dialog').waitFor();
}

/** Creates two weeks of emails with their results, and goals. */
export async function sceneOfReports({ world, tenant, post }: Stage): Promise<PageToSee[]> {
  const { organizationId } = tenant;
  const email = 'mia@northwind.example';
  const servers = { smtp: { host: '127.0.0.1', port: 2525 }, imap: { host: '127.0.0.1', port: 1143 } };
  const id = await createMailbox(world.deps, organizationId, email, servers);
  const { campaignId } = await createSentHistory(
    world,
    organizationId,
    { id, email },
    { days: 14, perDay: (ago) => [4, 5, 3, 2, 4, 1, 1][ago % 7]! },
  );
  const goal = (name: string, kind: string, event: string) =>
    post('/goals', { name, kind, definition: { event_name: event }, is_primary: true });
  const signup = await goal('Signed up for the trial', 'signup', 'user.signed_up');
  await goal(HOSTILE, 'paid', 'invoice.paid');
  const revenue = await post('/goals', {
    name: WIDE,
    kind: 'revenue',
    is_primary: true,
    definition: { event_name: 'order.paid' },
  });
  const definition = {
    event_name: 'order.paid',
    predicates: [
      { path: 'plan.name', op: 'in', value: ['pro', HOSTILE] },
      { path: 'plan.seats', op: 'gte', value: 5 },
      { path: 'trial', op: 'not_exists' },
    ],
    value_path: 'order.total',
    value_unit: 'major',
    currency_path: 'order.currency',
    default_currency: 'EUR',
  };
  await post(`/goals/${revenue.id}`, { definition }, 'PATCH');
  const range = { from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z' };
  const first = await post(`/goals/${revenue.id}/replays`, range);
  await post(`/goals/${revenue.id}/replays/${first.id}/cancel`, {});
  const { id: running } = await post(`/goals/${revenue.id}/replays`, range);
  await world.deps
    .db('goal_replays')
    .where({ id: running })
    .update({ state: 'running', cursor_at: '2026-01-11T00:00:00Z', scanned: 5000, added: 120, kept: 30 });
  await transact(world.system(organizationId), async (tx) => {
    for (let passed = 0; passed < 2; passed += 1)
      await addDeadLetter(tx, {
        taskId: newId(),
        taskType: REPLAY_EVENT,
        payload: { replay_id: running, goal_id: revenue.id, event_id: newId() },
        error: message('goals.event_passed_over', { kind: 'TypeError' }),
        attempts: 3,
        maxAttempts: 3,
        nextRetryAt: null,
      });
  });
  const where = JSON.stringify(JSON.stringify([{ path: 'plan', op: 'eq', value: 'pro' }]));
  const events = `/reports/events?${new URLSearchParams({ name: 'order.paid', where }).toString()}`;
  return [
    ['reports', '/reports'],
    ['reports-empty', '/reports', 'empty'],
    ['reports-people', `/reports/people?figure=replies&campaign_id=${campaignId}`],
    ['reports-deliverability', '/reports/deliverability'],
    ['reports-campaigns', '/reports/campaigns'],
    ['reports-campaigns-empty', '/reports/campaigns', 'empty'],
    ['reports-attribution', '/reports/attribution'],
    ['reports-attribution-empty', '/reports/attribution', 'empty'],
    ['reports-cost', '/reports/attribution', undefined, openCost],
    ['reports-prospects', '/reports/prospects'],
    ['reports-prospects-empty', '/reports/prospects', 'empty'],
    ['reports-events', events],
    ['reports-events-empty', '/reports/events', 'empty'],
    ['campaign-results', `/campaigns/${campaignId}?tab=results`],
    ['campaign-results-hour', `/campaigns/${campaignId}?tab=results&part=hour`],
    ['reports-goals', '/reports/goals'],
    ['reports-goal', `/reports/goals/${revenue.id}`],
    ['reports-goals-empty', '/reports/goals', 'empty'],
    ['reports-funnels', '/reports/funnels'],
    ['reports-funnels-goal', `/reports/funnels?steps=sent~reply~goal:${signup.id}`],
    ['reports-funnel-people', '/reports/people?of=funnel&figure=lost&steps=sent~reply&step=2&lost=true'],
    ['reports-deliverability-empty', '/reports/deliverability', 'empty'],
  ];
}
