import type { Page } from 'playwright-core';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '../../lib/ids.ts';
import { runImport } from '../../domain/audience/imports/run.ts';
import { startImport } from '../../domain/audience/imports/start.ts';
import { chooseRows } from './campaigns.ts';
import { HOSTILE, WIDE, type PageToSee, type Stage } from './stage.ts';

/** Chooses all visible rows and opens the dialog of an action. */
function chooseAction(button: string, item?: string): (page: Page) => Promise<void> {
  return async (page) => {
    await chooseRows(page);
    await page.getByRole('button', { name: button }).click();
    if (item) await page.getByRole('menuitem', { name: item }).click();
    await page.getByRole('dialog').waitFor();
  };
}

async function openExport(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('dialog').waitFor();
}

/**
 * Creates the data of the leads pages: the imported messy example list, tags, a segment, suppressions, and hostile
 * names.
 */
export async function sceneOfLeads({ world, tenant, post }: Stage): Promise<PageToSee[]> {
  await post('/suppressions', {
    entries: [{ value: 'rival.example' }, { value: 'grace@example.com', reason: HOSTILE }],
    reason: 'Competitor',
  });
  const customer = await post('/categories', { title: 'Customer', color: '#0ea5e9' });
  const hostileTag = await post('/categories', { title: '<script>document.title=1</script>', color: '#e11d48' });
  const imported = await importLeads(world, tenant.organizationId);
  const [grace, hostile] = await post('/contacts', [
    {
      email: 'grace@example.com',
      first_name: 'Grace',
      last_name: 'Hopper',
      company: 'Navy',
      phone: '+1 202 555 0100',
      categories: [customer.id],
      custom_fields: { plan: 'pro', city: 'Arlington' },
    },
    {
      email: 'hostile@example.com',
      first_name: HOSTILE,
      last_name: WIDE,
      company: HOSTILE,
      categories: [customer.id, hostileTag.id],
      custom_fields: { [HOSTILE.slice(0, 60)]: WIDE, لون: 'أحمر' },
    },
  ]);
  const segment = await post('/segments', {
    name: 'Customers not written to',
    match: 'all',
    conditions: [
      { field: 'outreach_status', operator: 'in', values: ['fresh', 'enrolled'] },
      { field: 'company', operator: 'exists' },
      { field: 'custom.plan', operator: 'in', values: ['pro', 'free'] },
    ],
  });
  await post('/segments', { name: HOSTILE.slice(0, 100) });
  const person = await claimTwice(world, tenant.organizationId, [grace.id, hostile.id]);
  await post(`/contacts/${hostile.id}/notes`, { content: HOSTILE });
  return [
    ['leads-empty', '/leads', 'empty'],
    ['leads', '/leads?q=example.org'],
    ['leads-chosen', '/leads?q=example.org', undefined, chooseRows],
    ['leads-chosen-campaign', '/leads?q=example.org', undefined, chooseAction('Add to a campaign')],
    ['leads-chosen-delete', '/leads?q=example.org', undefined, chooseAction('More actions', 'Delete permanently')],
    ['leads-export', '/leads?q=example.org', undefined, openExport],
    ['leads-none-found', '/leads?q=nothing-like-it'],
    ['lead', `/leads/${grace.id}`],
    ['lead-hostile', `/leads/${hostile.id}`],
    ['lead-emails', `/leads/${grace.id}?history=emails`],
    ['lead-events', `/leads/${hostile.id}?history=events`],
    ['leads-people-empty', '/leads/people', 'empty'],
    ['leads-people', '/leads/people'],
    ['leads-person', `/leads/people/${person}`],
    ['leads-segments-empty', '/leads/segments', 'empty'],
    ['leads-segments', '/leads/segments'],
    ['leads-segment', `/leads/segments/${segment.id}`],
    ['leads-segment-new', '/leads/segments/new'],
    ['leads-imports-empty', '/leads/imports', 'empty'],
    ['leads-imports', '/leads/imports'],
    ['leads-import', `/leads/imports/${imported}`],
    ['leads-import-new', '/leads/imports/new'],
    ['leads-conflicts-empty', '/leads/conflicts', 'empty'],
    ['leads-conflicts', '/leads/conflicts'],
    ['leads-suppressions-empty', '/leads/suppressions', 'empty'],
    ['leads-suppressions', '/leads/suppressions'],
    ['leads-verification', '/leads/verification'],
    ['leads-database', '/leads/database?q=example.org'],
    ['leads-database-companies', '/leads/database?by=companies&q=green'],
    ['leads-database-empty', '/leads/database', 'empty'],
    ['leads-catalogue', '/leads/catalogue'],
    ['leads-catalogue-companies', '/leads/catalogue?by=companies'],
    ['leads-catalogue-none-found', '/leads/catalogue?q=nobody-like-that'],
  ];
}

/** Imports the complete messy example list. */
async function importLeads(world: Stage['world'], organizationId: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'heron-scene-'));
  const path = join(folder, 'leads.csv');
  const text = await readFile(new URL('../../examples/leads.csv', import.meta.url));
  await writeFile(path, text);
  const ctx = world.system(organizationId);
  const { id } = await startImport(ctx, { file: { path, filename: 'leads.csv', size: text.length } });
  await runImport(ctx, id);
  await rm(folder, { recursive: true, force: true });
  return id;
}

/**
 * Adds a conflict for each contact: an event of another person names an identifier of the contact. Returns the id of
 * one of these people.
 */
async function claimTwice({ deps }: Stage['world'], org: string, contactIds: readonly string[]): Promise<string> {
  const created_at = deps.clock.now();
  let last = '';
  for (const [at, contact_id] of contactIds.entries()) {
    const [person, other] = [newId(), newId()];
    last = person;
    await deps.db('people').insert([
      { id: person, organization_id: org, created_at },
      { id: other, organization_id: org, contact_id, created_at },
    ]);
    await deps.db('identity_conflicts').insert({
      id: newId(),
      organization_id: org,
      person_id: person,
      other_person_id: other,
      kind: 'user_id',
      value: at === 0 ? 'user-4711' : WIDE,
      state: 'open',
      created_at,
    });
    await deps.db('person_identifiers').insert(
      (['email', 'user_id', 'anonymous_id'] as const).map((kind) => ({
        organization_id: org,
        kind,
        value: kind === 'email' ? `visitor-${at}@example.com` : at === 0 ? `${kind}-4711` : `${kind} ${WIDE}`,
        person_id: person,
        first_seen_at: created_at,
      })),
    );
  }
  return last;
}
