import type { Page } from 'playwright-core';
import { newId } from '../../lib/ids.ts';
import { createMailbox } from '../harness/factories.ts';
import { HOSTILE, WIDE, type PageToSee, type Stage } from './stage.ts';
import { externalText } from '../../domain/platform/external-text.ts';

/**
 * Groups of leads: their number, their state, and the path that they took through the sequence, as indexes of its
 * steps.
 */
const WAYS: readonly [count: number, state: string, steps: readonly number[], why?: Record<string, unknown>][] = [
  [6, 'pending', []],
  [
    5,
    'active',
    [0, 1],
    { waiting_for: externalText('the event trial.started'), waiting_until: new Date(Date.now() + 86_400_000) },
  ],
  [4, 'active', [0, 1, 2]],
  [3, 'replied', [0, 1, 2]],
  [1, 'bounced', [0], { failure_reason: externalText('The address does not exist') }],
  [1, 'failed', [0, 1, 3], { failure_reason: externalText(HOSTILE) }],
  [1, 'active', [0, 1, 3], { hold_since: new Date(), hold_reason: externalText(WIDE), hold_source: 'manual' }],
  [4, 'completed', [0, 1, 3, 4]],
];

/** Chooses all visible rows of a list. */
export async function chooseRows(page: Page): Promise<void> {
  await page.getByRole('checkbox', { name: 'Choose all shown rows' }).check();
  await page.getByRole('region', { name: 'Actions for the chosen rows' }).waitFor();
}

async function openMenu(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Actions for Autumn, trial to customer' }).click();
  await page.getByRole('menuitem', { name: 'Rename' }).waitFor();
}

/** Opens a dialog by its button, or by its item of a menu. */
function openDialog(name: string, menu?: (page: Page) => Promise<void>): (page: Page) => Promise<void> {
  return async (page) => {
    await menu?.(page);
    await page.getByRole(menu ? 'menuitem' : 'button', { name, exact: true }).click();
    await page.getByRole('dialog').waitFor();
  };
}

/** Creates a running campaign with every kind of step, two branches that meet again, and leads at all steps. */
export async function sceneOfSequences({ world, tenant, post }: Stage): Promise<PageToSee[]> {
  const { db, clock } = world.deps;
  const org = tenant.organizationId;
  const servers = { smtp: { host: '127.0.0.1', port: 2525 }, imap: { host: '127.0.0.1', port: 1143 } };
  const sender = await createMailbox(world.deps, org, 'mira@northwind.example', servers);
  const tag = await post('/tags', { title: WIDE.slice(0, 50), color: '#1c5fb8' });
  const category = await post('/categories', { title: 'Interested', color: '#0ea5e9' });
  const opened = { field: 'opened', operator: 'equals', value: true };
  const campaign = await post('/campaigns', {
    name: 'Autumn, trial to customer',
    sender_strategy: 'explicit',
    daily_limit: 4,
    link_tracking: true,
    tracking_domain: 'links.northwind.example',
    steps: [
      {
        name: 'Invitation',
        subject: '{A question|Something} for {{.Company}}',
        body_plain: 'Hello {{.FirstName}},\n\n{may I ask|could I ask} who looks after trials at {{.Company}}?\n\nMira',
      },
      {
        name: 'Trial begins',
        kind: 'wait',
        action: { type: 'wait_for_event', wait_event_name: 'trial.started', timeout_minutes: 4320 },
        conditions: {
          branches: [
            { to: 2, when: [{ field: 'node_outcome', operator: 'equals', value: 'event' }, opened] },
            { to: 3 },
          ],
        },
      },
      {
        name: 'Welcome',
        subject: '',
        body_plain: 'Good to have you, {{.FirstName | default "there"}}.',
        conditions: { branches: [{ to: 4 }] },
      },
      { name: 'Reminder', body_plain: 'Hello {{.FirstName}}, {{.Nothing}} shall I send a link?', wait_after: 3 },
      { name: 'Interested', action: { type: 'add_tag', category_id: category.id } },
      { name: WIDE, action: { type: 'notify', message: HOSTILE } },
    ],
  });
  const steps = (await post(`/campaigns/${campaign.id}/steps`, undefined, 'GET')) as { id: string }[];
  await post(`/campaigns/${campaign.id}/senders`, { senders: [{ email_account_id: sender }] }, 'PUT');
  await post(`/campaigns/${campaign.id}/ab-variants`, {
    name: 'Shorter',
    step_id: steps[0]!.id,
    subject: 'Trials at {{.Company}}',
    body_plain: 'Hello {{.FirstName}}, one question.',
  });
  const count = WAYS.reduce((sum, [leads]) => sum + leads, 0);
  const contacts = (await post(
    '/contacts',
    Array.from({ length: count }, (_, at) => ({
      email: `lead-${at}@shops.example`,
      first_name: at % 5 === 0 ? HOSTILE.slice(0, 80) : 'Noor',
      company: at % 4 === 0 ? WIDE.slice(0, 100) : 'Lamps and Sons',
    })),
  )) as { id: string }[];
  await post(`/campaigns/${campaign.id}/leads`, { contact_ids: contacts.map(({ id }) => id) });
  const enrollments = await db('enrollments').where({ campaign_id: campaign.id }).orderBy('id');
  let at = 0;
  for (const [leads, state, met, why = {}] of WAYS)
    for (let lead = 0; lead < leads; lead += 1) {
      const { id, contact_id: contact } = enrollments[at]!;
      at += 1;
      const last = met.at(-1);
      const current = last === undefined ? null : steps[last]!.id;
      await db('enrollments')
        .where({ id })
        .update({ state, current_step_id: current, ...why });
      for (const [index, step] of met.entries())
        await db('step_runs').insert({
          id: newId(),
          organization_id: org,
          enrollment_id: id,
          campaign_id: campaign.id,
          contact_id: contact,
          step_id: steps[step]!.id,
          seq: index + 1,
          kind: 'email',
          state: 'completed',
          started_at: clock.now(),
        });
    }
  // The last two leads wait for a retry of an app call.
  for (const { id, contact_id: contact } of enrollments.slice(-2)) {
    await db('enrollments').where({ id }).update({ state: 'active', blocked: true });
    await db('step_runs').insert({
      id: newId(),
      organization_id: org,
      enrollment_id: id,
      campaign_id: campaign.id,
      contact_id: contact,
      step_id: steps[5]!.id,
      seq: 9,
      kind: 'app_action',
      state: 'blocked',
      attempts: 5,
      started_at: clock.now(),
      error: JSON.stringify({
        code: 'app_action_failed',
        message: externalText(`The app answered 500: ${HOSTILE}`),
        fix: externalText('Check its log.'),
      }),
    });
  }
  await db('fact_steps').insert({
    organization_id: org,
    campaign_id: campaign.id,
    step_id: steps[0]!.id,
    variant_id: '00000000-0000-0000-0000-000000000000',
    sent: 19,
    opened: 11,
    replied: 3,
  });
  await db('campaigns').where({ id: campaign.id }).update({ status: 'active', had_leads: true });
  const page = `/campaigns/${campaign.id}`;
  await post('/templates', { name: WIDE, subject: HOSTILE, body_plain: HOSTILE });
  const tagged = await post('/campaigns', { name: 'By tag', email_tag_ids: [tag.id] });
  const folder = await post('/folders', { title: WIDE.slice(0, 50) });
  await post(`/campaigns/${tagged.id}`, { folders: [folder.id] }, 'PATCH');
  const old = await post('/campaigns', { name: 'Last year' });
  await post(`/campaigns/${old.id}`, { archived: true }, 'PATCH');
  return [
    ['sequence', page],
    ['sequence-list', `${page}?view=list`],
    ['sequence-email', `${page}?step=${steps[0]!.id}`],
    ['sequence-wait', `${page}?step=${steps[1]!.id}`],
    ['sequence-new', `${page}?step=new-app_action`],
    ['sequence-new-task', `${page}?step=new-create_task`],
    ['sequence-new-deal', `${page}?step=new-create_deal`],
    ['sequence-new-move', `${page}?step=new-move_deal_stage`],
    ['sequence-leads', `${page}?tab=leads`],
    ['sequence-leads-chosen', `${page}?tab=leads`, undefined, chooseRows],
    ['sequence-test', `${page}?step=${steps[0]!.id}`, undefined, openDialog('Send a test')],
    ['sequence-rename', page, undefined, openDialog('Rename', openMenu)],
    ['sequence-duplicate', page, undefined, openDialog('Duplicate', openMenu)],
    ['sequence-folders', page, undefined, openDialog('Folders', openMenu)],
    ['sequence-delete', page, undefined, openDialog('Delete', openMenu)],
    ['campaigns-chosen', '/campaigns', undefined, chooseRows],
    ['campaigns-archived', '/campaigns?status=archived'],
    ['sequence-leads-failed', `${page}?tab=leads&status=failed`],
    ['sequence-schedule', `${page}?tab=schedule`],
    ['sequence-senders', `${page}?tab=senders`],
    ['sequence-senders-tags', `/campaigns/${tagged.id}?tab=senders`],
    ['sequence-check', `${page}?tab=check`],
    ['sequence-variants', `${page}?tab=results&part=variants`],
    ['sequence-log', `${page}?tab=log`],
  ];
}
