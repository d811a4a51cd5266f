import type { Page } from 'playwright-core';
import { approvalContent, createApproval } from '../harness/approvals.ts';
import { createMailbox, type Tenant } from '../harness/factories.ts';
import { newId } from '../../lib/ids.ts';
import { call } from '../harness/world.ts';
import { sceneOfAutomations } from './automations.ts';
import { sceneOfCrm } from './crm.ts';
import { sceneOfSequences } from './campaigns.ts';
import { sceneOfLeads } from './leads.ts';
import { sceneOfMeetings } from './meetings.ts';
import { sceneOfInbox } from './inbox.ts';
import { sceneOfOperator } from './operator.ts';
import { sceneOfAgents } from './agents.ts';
import { sceneOfSettings } from './settings.ts';
import { sceneOfReports } from './reports.ts';
import { sceneOfOrders } from './orders.ts';
import { ENDLESS, HOSTILE, WIDE, type PageToSee, type SceneWorld, type Stage } from './stage.ts';
import { message } from '../../messages/index.ts';

export interface Scene {
  tenant: Tenant;
  empty: Tenant;
  pages: PageToSee[];
}

/**
 * Functions that create the data of each part of the dashboard and return its pages, in the order in which they run.
 */
const SCENES: readonly ((stage: Stage) => Promise<PageToSee[]>)[] = [
  sceneOfCampaigns,
  sceneOfSequences,
  sceneOfLeads,
  sceneOfCrm,
  sceneOfMeetings,
  sceneOfAutomations,
  sceneOfInbox,
  sceneOfOperator,
  sceneOfReports,
  sceneOfAgents,
  sceneOfOrders,
  sceneOfSettings,
];

/** Fills one workspace with data as after some months of use, and leaves another empty. */
export async function furnish(world: SceneWorld): Promise<Scene> {
  const tenant = await world.tenant('Northwind');
  const empty = await world.tenant('Newcomers');
  const post = async (path: string, body: unknown, method = 'POST') => {
    const answer = await call(world, method, `/v1${path}`, {
      token: tenant.sessionToken,
      body,
      ...(method === 'GET' ? {} : { headers: { 'idempotency-key': newId() } }),
    });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
    return answer.body;
  };
  const pages: PageToSee[] = [];
  for (const scene of SCENES) pages.push(...(await scene({ world, tenant, empty, post })));
  return { tenant, empty, pages };
}

async function askToDisconnect(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Disconnect' }).click();
  await page.getByRole('dialog', { name: 'Disconnect' }).waitFor();
}

async function openNewRule(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'New rule' }).click();
  await page.getByRole('dialog').waitFor();
}

async function sceneOfCampaigns({ world, tenant, post }: Stage): Promise<PageToSee[]> {
  const servers = { smtp: { host: '127.0.0.1', port: 2525 }, imap: { host: '127.0.0.1', port: 1143 } };
  const mailbox = await createMailbox(world.deps, tenant.organizationId, 'sam@northwind.example', servers);
  await createMailbox(world.deps, tenant.organizationId, 'lena@northwind.example', servers, { name: HOSTILE });
  for (const [name, weight] of [
    ['Prefer Google', 3],
    [HOSTILE, 0],
  ] as const)
    await post('/warmup/routing', {
      name,
      weight,
      sender_match_type: 'domain',
      sender_match_value: 'northwind.example',
      recipient_match_type: 'provider',
      recipient_match_value: 'google',
      enabled: weight > 0,
    });
  const [ada] = await post('/contacts', [
    { email: 'ada@example.com', first_name: 'Ada', company: 'Analytical Engines' },
  ]);
  const campaign = await post('/campaigns', {
    name: 'Lights for shops in Hamburg',
    sender_strategy: 'explicit',
    steps: [
      {
        name: 'Hello',
        subject: 'A question about {{.Company}}',
        body_plain: 'Hello {{.FirstName}},\n\nwho looks after the lights at {{.Company}}?\n\nBest regards',
      },
      { name: 'Follow-up', body_plain: 'Hello {{.FirstName}}, have you had a moment?', wait_after: 3 },
    ],
  });
  await post(`/campaigns/${campaign.id}/senders`, { senders: [{ email_account_id: mailbox }] }, 'PUT');
  await post(`/campaigns/${campaign.id}/leads`, { contact_ids: [ada.id] });
  const hostile = await post('/campaigns', {
    name: HOSTILE,
    steps: [{ name: WIDE, subject: HOSTILE, body_plain: `${HOSTILE} {{.Nothing}} ${ENDLESS}` }],
  });
  await post('/campaigns', { name: WIDE, steps: [{ name: 'One', subject: 'Hello', body_plain: 'Hello' }] });
  const email = {
    to: 'ada@example.com',
    from: 'sam@northwind.example',
    subject: HOSTILE,
    text: HOSTILE,
    html: HOSTILE,
  };
  await createApproval(world.system(tenant.organizationId), tenant);
  await createApproval(world.system(tenant.organizationId), tenant, {
    content: approvalContent({ title: message('action.launch', { name: HOSTILE }), samples: [email] }),
  });
  return [
    ['start-empty', '/', 'empty'],
    ['start', '/'],
    ['campaigns-empty', '/campaigns', 'empty'],
    ['campaigns', '/campaigns'],
    ['campaigns-none-found', '/campaigns?q=nothing-like-it'],
    ['campaign-new', '/campaigns/new'],
    ['campaign', `/campaigns/${campaign.id}`],
    ['campaign-hostile', `/campaigns/${hostile.id}`],
    ['review', '/review'],
    ['review-empty', '/review', 'empty'],
    ['mailboxes-empty', '/mailboxes', 'empty'],
    ['mailboxes', '/mailboxes'],
    ['mailbox', `/mailboxes/${mailbox}`],
    ['mailbox-disconnect', `/mailboxes/${mailbox}`, undefined, askToDisconnect],
    ['mailboxes-rules', '/mailboxes/warmup'],
    ['mailboxes-rules-empty', '/mailboxes/warmup', 'empty'],
    ['mailboxes-rule-new', '/mailboxes/warmup', undefined, openNewRule],
    ['mailboxes-connect', '/mailboxes/new', 'empty'],
    ['lost', '/nothing-here'],
  ];
}
