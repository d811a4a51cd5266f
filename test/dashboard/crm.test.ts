import test from 'ava';
import type { Page } from 'playwright-core';
import { TRIGGER_NAMES } from '../../domain/connect/triggers/vocabulary.ts';
import { TRIGGERS } from '../../web/src/components/triggers.ts';
import { browserTests, findChromium } from '../harness/browser.ts';
import { createPipeline } from '../harness/crm.ts';
import { createDashboardWorld, type DashboardWorld } from '../harness/dashboard.ts';
import { eventually } from '../harness/eventually.ts';
import { createContact, type Tenant } from '../harness/factories.ts';
import { call } from '../harness/world.ts';

const browserTest = browserTests(test);
let world: DashboardWorld;
test.before(async () => {
  if (findChromium()) world = await createDashboardWorld();
});
test.after.always(() => world?.close());

const api = async (tenant: Tenant, method: string, path: string, body?: unknown) =>
  (await call(world, method, `/v1${path}`, { token: tenant.apiKey, body })).body;

async function boardWithADeal() {
  const tenant = await world.tenant();
  const { id, stageIds } = await createPipeline(world, tenant);
  const deal = await api(tenant, 'POST', '/crm/deals', {
    pipeline_id: id,
    stage_id: stageIds[0],
    name: 'Lights for Ockham Park',
    value: 1200,
    currency: 'EUR',
  });
  const stageOfDeal = async () => stageIds.indexOf((await api(tenant, 'GET', `/crm/deals/${deal.id}`)).stage_id);
  return { tenant, deal, stageIds, stageOfDeal };
}
const lane = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
/** Waits until the page shows the held deal over a lane, because only then can arrow keys move it. */
const heldOver = async (page: Page, stage: string) => {
  await page.getByText(`Lights for Ockham Park is over ${stage}`).waitFor({ state: 'attached' });
  await lane(page, stage).and(page.locator('[data-over]')).waitFor();
};
const card = (page: Page, stage: string) => lane(page, stage).getByRole('article', { name: 'Lights for Ockham Park' });

browserTest('a deal is moved by mouse, and back by the note that says so', async (t) => {
  const { tenant, stageOfDeal } = await boardWithADeal();
  const { page, context, faults } = await world.open(tenant, '/crm', { locale: 'en-GB' });
  const from = (await card(page, 'New').boundingBox())!;
  const to = (await lane(page, 'Closing').boundingBox())!;
  await page.mouse.move(from.x + 40, from.y + from.height - 10);
  await page.mouse.down();
  await page.mouse.move(from.x + 80, from.y + 30, { steps: 3 });
  await page.mouse.move(to.x + to.width / 2, to.y + 80, { steps: 6 });
  await page.mouse.up();
  await card(page, 'Closing').waitFor();
  // A notification stays as long as the pointer is on it.
  await page.getByText('Lights for Ockham Park is in Closing').hover();
  await eventually(async () => (await stageOfDeal()) === 2);
  await page.getByRole('button', { name: 'Undo' }).click();
  await card(page, 'New').waitFor();
  await eventually(async () => (await stageOfDeal()) === 0);
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('a deal is moved by the keyboard alone; one that the API refuses to move is put back', async (t) => {
  const { tenant, deal, stageOfDeal } = await boardWithADeal();
  const { page, context, faults } = await world.open(tenant, '/crm', { locale: 'en-GB' });
  await page.getByRole('button', { name: 'Move Lights for Ockham Park' }).focus();
  await page.keyboard.press('Space');
  await heldOver(page, 'New');
  await page.keyboard.press('ArrowRight');
  await heldOver(page, 'Talking');
  await page.keyboard.press('Space');
  await card(page, 'Talking').waitFor();
  await eventually(async () => (await stageOfDeal()) === 1);
  await page.getByRole('button', { name: 'Move Lights for Ockham Park' }).focus();
  await page.keyboard.press('Space');
  await heldOver(page, 'Talking');
  await page.keyboard.press('ArrowRight');
  await heldOver(page, 'Closing');
  // Another person deletes the deal in the meantime.
  await api(tenant, 'DELETE', `/crm/deals/${deal.id}`);
  await page.keyboard.press('Space');
  await page.getByText('Deal not found').waitFor();
  await card(page, 'Talking').waitFor({ state: 'detached' });
  t.is(await page.getByRole('article').count(), 0);
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('the first pipeline, a deal with its task, and the task ticked off and taken up again', async (t) => {
  const tenant = await world.tenant();
  const { page, context, faults } = await world.open(tenant, '/crm', { locale: 'en-GB' });
  await page.getByRole('button', { name: 'Create four stages' }).click();
  await page.getByRole('button', { name: 'New deal' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Showroom');
  await dialog.getByLabel('Value').fill('900');
  await dialog.getByRole('button', { name: 'New deal' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Showroom' }).click();
  await page.getByRole('button', { name: 'New task' }).click();
  await page.getByRole('dialog').getByLabel('Title').fill('Call them');
  await page.getByRole('dialog').getByRole('button', { name: 'New task' }).click();
  const tick = page.getByRole('checkbox', { name: 'Complete Call them' });
  // Does not use `check`, because the box is ticked only when the list has the new state, which may be after the click.
  await tick.click();
  await page.getByText('Task completed: Call them').hover();
  const task = async () => (await api(tenant, 'GET', '/crm/tasks')).data[0];
  await eventually(async () => (await task()).status === 'completed');
  await page.getByRole('button', { name: 'Undo' }).click();
  await eventually(async () => (await task()).status === 'pending');
  await eventually(async () => !(await tick.isChecked()));
  await page.getByRole('button', { name: 'Mark as lost' }).click();
  await page.getByRole('dialog').getByLabel('Reason for the loss').fill('Too late');
  await page.getByRole('dialog').getByRole('button', { name: 'Mark as lost' }).click();
  await page.getByText('Too late').waitFor();
  // The button that opened the dialog is gone, so the page heading gets the focus.
  await page.locator('h1:focus').waitFor();
  t.is((await api(tenant, 'GET', '/crm/deals')).data[0].lost_reason, 'Too late');
  await page.getByRole('link', { name: 'Board' }).first().click();
  await page.getByRole('button', { name: 'New pipeline' }).click();
  await page.getByRole('dialog').getByLabel('Name of the pipeline').fill('Renewals');
  await page.getByRole('button', { name: 'Create pipeline' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('combobox', { name: 'Pipeline' }).and(page.locator('[value="Renewals"]')).waitFor();
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('a flow is drawn and saved, and a dry run is shown on it without anything being done', async (t) => {
  const tenant = await world.tenant();
  const tag = await api(tenant, 'POST', '/categories', { title: 'Interested' });
  const { page, context, faults } = await world.open(tenant, '/automations', { locale: 'en-GB' });
  await page.getByRole('button', { name: 'New automation' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Answer the interested');
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  const picture = page.getByRole('group', { name: 'Flow' });
  await picture.getByRole('button', { name: 'A lead replied' }).waitFor();
  await page.getByRole('button', { name: 'Add a condition' }).click();
  await page.getByRole('combobox', { name: 'Field' }).fill('intent');
  await page.getByRole('textbox', { name: 'Value' }).fill('positive');
  // The API reports what is missing in the automation, and the page shows the message.
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('needs an edge for true').waitFor();
  await page.getByRole('button', { name: 'Add an action' }).first().click();
  await page.getByRole('combobox', { name: 'Tag' }).click();
  await page.getByRole('option', { name: 'Interested' }).click();
  await picture.getByRole('button', { name: /^Add a tag\s*Interested$/ }).waitFor();
  await picture.getByRole('button', { name: 'Condition' }).click();
  await page.getByRole('button', { name: 'Add an action' }).last().click();
  await page.getByRole('combobox', { name: 'Action' }).click();
  await page.getByRole('option', { name: 'Notify the team' }).click();
  await page.getByRole('textbox', { name: 'Message' }).fill('{{ .contact.first_name }} said no');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved').waitFor();
  await page.getByRole('button', { name: 'Dry run' }).click();
  await page.getByRole('button', { name: 'Start dry run' }).click();
  await page.getByText('The flow shows the dry run').waitFor();
  const node = (name: string) => picture.getByRole('button', { name });
  t.is(await node('Condition').getAttribute('data-status'), 'branch_true');
  t.is(await node('Add a tag').getAttribute('data-status'), 'success');
  t.is(await node('Notify the team').getAttribute('data-status'), 'skipped');
  await node('Add a tag').click();
  await page.getByText(tag.id).waitFor();
  const [{ id, graph, enabled }] = (await api(tenant, 'GET', '/automations')).automations;
  t.is(graph.nodes.length, 4);
  t.false(enabled);
  t.deepEqual((await api(tenant, 'GET', `/automations/${id}/runs`)).runs, []);
  t.deepEqual(faults, []);
  await context.close();
});

/** Saves, and waits until all changes are saved. */
const save = async (page: Page) => {
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('button[aria-disabled=true]:not([data-loading])', { hasText: /^Save$/ }).waitFor();
};

browserTest(
  'two people edit an automation at once: other parts come together, the same is decided; a deal stays where it was moved',
  async (t) => {
    const { tenant, deal, stageIds, stageOfDeal } = await boardWithADeal();
    const tell = { id: 'tell', type: 'action', action: 'sendsets.notify', config: { message: 'Hi' }, x: 0, y: 130 };
    const { automation } = await api(tenant, 'POST', '/automations', {
      name: 'Answers',
      enabled: false,
      trigger_event: 'email.replied',
      graph: {
        nodes: [{ id: 'trigger', type: 'trigger', x: 0, y: 0 }, tell],
        edges: [{ id: 'e', source: 'trigger', target: 'tell', when: '' }],
      },
    });
    const now = async () => {
      const { name, graph } = (await api(tenant, 'GET', `/automations/${automation.id}`)).automation;
      return { name, message: graph.nodes[1].config.message };
    };
    const path = `/automations/${automation.id}?node=tell`;
    const first = await world.open(tenant, path, { locale: 'en-GB' });
    const second = await world.open(tenant, path, { locale: 'en-GB' });
    const message = ({ page }: typeof first) => page.getByRole('textbox', { name: 'Message' });
    await second.page.getByRole('textbox', { name: 'Name' }).fill('Of the second');
    await message(first).fill('Of the first');
    await save(first.page);
    await save(second.page);
    t.deepEqual(await now(), { name: 'Of the second', message: 'Of the first' });

    await message(second).fill('Also of the second');
    await message(first).fill('Again of the first');
    await save(first.page);
    await second.page.getByRole('button', { name: 'Save' }).click();
    await second.page.getByText('Somebody else has changed the same data').waitFor();
    t.deepEqual(await now(), { name: 'Of the second', message: 'Again of the first' });
    await second.page.getByRole('button', { name: 'Keep mine' }).click();
    await save(second.page);
    t.deepEqual(await now(), { name: 'Of the second', message: 'Also of the second' });
    t.deepEqual([...first.faults, ...second.faults], []);
    await first.context.close();

    await second.page.goto(`${world.url}/crm/deals/${deal.id}`);
    await second.page.getByRole('textbox', { name: 'Name' }).fill('Lights, seen');
    await api(tenant, 'PATCH', `/crm/deals/${deal.id}`, { stage_id: stageIds[1] });
    await save(second.page);
    t.is((await api(tenant, 'GET', `/crm/deals/${deal.id}`)).name, 'Lights, seen');
    t.is(await stageOfDeal(), 1);
    await second.context.close();
  },
);

browserTest('what is typed in a dialog is kept when somebody else saves the same meanwhile', async (t) => {
  const tenant = await world.tenant();
  const { page, context, faults } = await world.open(tenant, '/tasks?show=open', { locale: 'en-GB' });
  const url = 'http://hooks.example.com/in';
  const task = await api(tenant, 'POST', '/crm/tasks', { title: 'Call Ada' });
  const goal = await api(tenant, 'POST', '/goals', {
    name: 'Paid',
    kind: 'paid',
    definition: { event_name: 'order.paid' },
  });
  const hook = await api(tenant, 'POST', '/webhooks', { url, description: 'CRM' });
  const forms = [
    {
      at: `/crm/tasks/${task.id}`,
      page: '/tasks?show=open',
      opens: 'Call Ada',
      label: 'Title',
      theirs: { title: 'Call Babbage', priority: 'high' },
      kept: { title: 'Mine', priority: 'high' },
    },
    {
      at: `/goals/${goal.id}`,
      page: `/reports/goals/${goal.id}`,
      opens: 'Change goal',
      label: 'Name',
      theirs: { name: 'Bought', definition: { event_name: 'order.settled' } },
      kept: { name: 'Mine', definition: { event_name: 'order.settled' } },
    },
    {
      at: `/webhooks/${hook.id}`,
      page: `/operations/webhooks/${hook.id}`,
      opens: 'Edit',
      label: 'Description',
      theirs: { url, description: 'Data lake', enabled: false },
      kept: { description: 'Mine', enabled: false },
    },
  ];
  const stored = async (at: string) =>
    at.startsWith('/webhooks') ? (await api(tenant, 'GET', '/webhooks')).endpoints[0] : await api(tenant, 'GET', at);
  for (const form of forms) {
    await page.goto(world.url + form.page);
    await page.getByRole('button', { name: form.opens }).click();
    const dialog = page.getByRole('dialog');
    const field = dialog.getByRole('textbox', { name: form.label }).first();
    await field.fill('Mine');
    await api(tenant, 'PATCH', form.at, form.theirs);
    await field.press('Enter');
    await dialog.getByText('Somebody else has changed the same data').waitFor();
    t.like(await stored(form.at), form.theirs);
    t.is(await field.inputValue(), 'Mine');
    await dialog.getByRole('button', { name: 'Keep mine' }).click();
    await field.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    t.like(await stored(form.at), form.kept);
  }
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('a meeting is logged by hand, changed and called off; a busy button keeps the focus', async (t) => {
  const tenant = await world.tenant();
  const { page, context, faults } = await world.open(tenant, '/meetings?zone=UTC', {
    locale: 'en-GB',
    timezoneId: 'UTC',
  });
  await page.getByRole('button', { name: 'Log a meeting' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('or an email address').fill('ada@example.com');
  await dialog.getByLabel('Subject').fill('Coffee at the fair');
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  await dialog.getByLabel('Start (').fill(`${tomorrow}T23:10`);
  await dialog.getByRole('button', { name: 'Log a meeting' }).click();
  const meeting = page.getByRole('article').filter({ hasText: 'Coffee at the fair' });
  await meeting.getByText('23:10').waitFor();
  await meeting.getByRole('button', { name: 'Change meeting' }).click();
  await dialog.getByLabel('Location').fill('Hall 4');
  // The API reports the error; the focus stays on the pressed button.
  await dialog.getByLabel('Link').fill('ftp://files.example.com');
  await dialog.getByRole('button', { name: 'Save' }).focus();
  await page.keyboard.press('Enter');
  await dialog.getByRole('alert').waitFor();
  await page.locator(':focus', { hasText: /^Save$/ }).waitFor();
  await dialog.getByLabel('Link').fill('');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await meeting.getByText('Hall 4').waitFor();
  await meeting.getByRole('button', { name: 'Cancel meeting' }).click();
  await dialog.getByLabel('Reason (optional)').fill('The fair is over');
  await dialog.getByRole('button', { name: 'Cancel meeting' }).click();
  await meeting.waitFor({ state: 'detached' });
  const [{ location, status, canceled_reason }] = (await api(tenant, 'GET', '/meetings')).data;
  t.deepEqual([location, status, canceled_reason], ['Hall 4', 'canceled', 'The fair is over']);
  t.deepEqual(faults, []);
  await context.close();
});

test('the dashboard offers every trigger', (t) => {
  t.deepEqual([...TRIGGERS], [...TRIGGER_NAMES]);
});

browserTest(
  'addresses of internationalized domains show as people write them, and the raw form on hover',
  async (t) => {
    const { tenant, deal } = await boardWithADeal();
    const [raw, shown] = ['ada@xn--bcher-kva.example', 'ada@bücher.example'];
    const contactId = await createContact(world.deps.db, world.deps.clock.now(), tenant.organizationId, {
      email: raw,
      first_name: '',
      last_name: '',
    });
    await api(tenant, 'PATCH', `/crm/deals/${deal.id}`, { contact_id: contactId });
    await api(tenant, 'POST', '/unibox/drafts', { to: [raw], subject: 'Hello', body_plain: 'Hi' });
    const { page, context, faults } = await world.open(tenant, '/crm', { locale: 'en-GB' });
    t.is(await card(page, 'New').getByText(shown).getAttribute('title'), raw);
    await page.goto(`${world.url}/inbox?view=drafts`);
    const drafts = page.getByRole('list', { name: 'Drafts' });
    t.is(await drafts.getByText(shown).getAttribute('title'), raw);
    t.deepEqual(faults, []);
    await context.close();
  },
);
