import type { Page } from 'playwright-core';
import { createMember } from '../harness/factories.ts';
import { HOSTILE, WIDE, type PageToSee, type Stage } from './stage.ts';

const openDialog = (name: string) => async (page: Page) => {
  await page.getByRole('main').getByRole('button', { name }).first().click();
  await page.getByRole('dialog').waitFor();
};

/** Creates members, roles, teams, labels, templates and apps with long and hostile names. */
export async function sceneOfSettings({ world, tenant, post }: Stage): Promise<PageToSee[]> {
  const member = await createMember(world.deps, tenant, 'Member');
  await world.deps
    .db('users')
    .where({ id: member.userId })
    .update({ first_name: HOSTILE.slice(0, 100) });
  await post('/organizations/current/roles', { name: 'Writer', permissions: ['view_campaigns', 'manage_campaigns'] });
  await post('/organizations/current/roles', { name: WIDE.slice(0, 100), permissions: [] });
  const { data: roles } = await post('/organizations/current/roles', undefined, 'GET');
  const { id: role } = roles.find(({ name }: { name: string }) => name === 'Writer');
  await post('/organizations/current/invitations', { email: 'guest@example.com', role_id: role });
  const team = await post('/teams', { name: HOSTILE });
  await post(`/teams/${team.id}/members`, { user_id: member.userId });
  for (const title of ['Spring', WIDE.slice(0, 50)]) await post('/folders', { title });
  await post('/tags', { title: HOSTILE.slice(0, 50) });
  await post('/templates', { name: WIDE, subject: HOSTILE, body_plain: 'Thank you, {{.FirstName}}.' });
  await post('/templates', { name: 'Thanks', body_plain: 'Thank you.' });
  const { data: campaigns } = await post('/campaigns?limit=1', undefined, 'GET');
  await post(`/campaigns/${campaigns[0].id}`, { tracking_domain: 'links.northwind.example' }, 'PATCH');
  await post('/app-connections', { name: HOSTILE.slice(0, 100), base_url: 'https://app.northwind.example/heron' });
  return [
    ['settings', '/settings'],
    ['settings-workspace', '/settings/workspace'],
    ['settings-members', '/settings/members'],
    ['settings-invite', '/settings/members', undefined, openDialog('Invite somebody')],
    ['settings-roles', '/settings/roles'],
    ['settings-role-new', '/settings/roles', undefined, openDialog('New role')],
    ['settings-teams', '/settings/teams'],
    ['settings-teams-empty', '/settings/teams', 'empty'],
    ['settings-labels', '/settings/labels'],
    ['settings-labels-empty', '/settings/labels', 'empty'],
    ['settings-templates', '/settings/templates'],
    ['settings-templates-empty', '/settings/templates', 'empty'],
    ['settings-template-new', '/settings/templates', undefined, openDialog('New template')],
    ['settings-outreach', '/settings/outreach'],
    ['settings-domains', '/settings/domains'],
    ['settings-domains-empty', '/settings/domains', 'empty'],
    ['settings-apps', '/settings/apps'],
    ['settings-apps-empty', '/settings/apps', 'empty'],
    ['settings-usage', '/settings/usage'],
  ];
}
