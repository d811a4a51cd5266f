import type { Page } from 'playwright-core';
import { HOSTILE, WIDE, type PageToSee, type Stage } from './stage.ts';

/** Chooses the first two tasks. */
async function chooseTasks(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Choose several' }).click();
  for (const box of await page
    .locator('main .select-box')
    .all()
    .then((all) => all.slice(0, 2)))
    await box.check();
  await page.getByRole('region', { name: 'Actions for the chosen rows' }).waitFor();
}

async function editStages(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Edit stages' }).click();
  await page.getByRole('dialog').waitFor();
}

/**
 * Creates deals in four stages and several currencies, won and lost deals, and tasks that are overdue, due and
 * completed.
 */
export async function sceneOfCrm({ post }: Stage): Promise<PageToSee[]> {
  const pipeline = await post('/crm/pipelines', {
    name: 'Sales',
    stages: [
      { name: 'New', color: '#64748b' },
      { name: 'Talking', color: '#0ea5e9' },
      { name: HOSTILE, color: '#8b5cf6' },
      { name: 'Closing', color: '#f59e0b' },
    ],
  });
  const [lovelace] = await post('/contacts', [
    { email: 'countess@example.com', first_name: 'Augusta', last_name: 'King', company: 'Ockham Park' },
  ]);
  const add = (stage: number, name: string, more: object = {}) =>
    post('/crm/deals', { pipeline_id: pipeline.id, stage_id: pipeline.stages[stage].id, name, ...more });
  const soon = new Date(Date.now() + 9 * 86_400_000).toISOString();
  const deal = await add(0, 'Lights for Ockham Park', {
    contact_id: lovelace.id,
    value: 12_500,
    currency: 'EUR',
    expected_close_date: soon,
  });
  await add(0, 'Street lamps, Hamburg', { value: 48_000, currency: 'EUR' });
  await add(1, 'Showroom', { value: 3_199.5, currency: 'USD', contact_id: lovelace.id });
  await add(1, WIDE, { value: 1_000_000, currency: 'JPY' });
  await add(2, HOSTILE);
  const won = await add(3, 'Bakery, blue', { value: 900, currency: 'EUR' });
  await post(`/crm/deals/${won.id}`, { status: 'won' }, 'PATCH');
  const lost = await add(3, 'Station clock', { value: 7_000, currency: 'USD' });
  await post(`/crm/deals/${lost.id}`, { status: 'lost', lost_reason: 'Too expensive for this year' }, 'PATCH');
  const task = (title: string, due: number | null, more: object = {}) =>
    post('/crm/tasks', {
      title,
      ...(due === null ? {} : { due_date: new Date(Date.now() + due * 3_600_000).toISOString() }),
      ...more,
    });
  await task('Call Augusta about the offer', -30, { deal_id: deal.id, contact_id: lovelace.id, priority: 'urgent' });
  await task('Send the catalogue', 0.1, { deal_id: deal.id, priority: 'high' });
  await task(HOSTILE, 0.2, { contact_id: lovelace.id });
  await task(WIDE, 72);
  const done = await task('Write down what was said', null, { deal_id: deal.id });
  await post(`/crm/tasks/${done.id}`, { status: 'completed' }, 'PATCH');
  return [
    ['crm-empty', '/crm', 'empty'],
    ['crm', '/crm'],
    ['crm-stages', '/crm', undefined, editStages],
    ['crm-list', '/crm/list'],
    ['crm-list-empty', '/crm/list', 'empty'],
    ['crm-deal', `/crm/deals/${deal.id}`],
    ['crm-deal-lost', `/crm/deals/${lost.id}`],
    ['tasks', '/tasks'],
    ['tasks-open', '/tasks?show=open'],
    ['tasks-chosen', '/tasks?show=open', undefined, chooseTasks],
    ['tasks-empty', '/tasks', 'empty'],
  ];
}
