import test from 'ava';
import { createContact, createCampaign } from '../../../test/harness/factories.ts';
import { react } from '../../../test/harness/reactions.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { newId } from '../../../lib/ids.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { openTasksForReplies } from '../../crm/reply-task.ts';
import { registerSubscribers } from '../../platform/events/register.ts';
import { SUBSCRIBERS } from './index.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
  await registerSubscribers(world.deps, SUBSCRIBERS);
});
test.after.always(() => world?.close());

async function scene(settings: object = {}, overrides?: object) {
  const { organizationId: org } = await world.tenant();
  const { db, clock } = world.deps;
  const now = clock.now();
  await db('outreach_settings').insert({
    organization_id: org,
    settings: JSON.stringify({ reply_intent: settings }),
    updated_at: now,
  });
  const { campaignId } = await createCampaign(world.deps, org, [{ subject: 'Hello' }]);
  if (overrides)
    await db('campaign_advanced').insert({
      organization_id: org,
      campaign_id: campaignId,
      overrides: JSON.stringify({ reply_intent: overrides }),
      updated_at: now,
    });
  const contactId = await createContact(db, now, org);
  const about = { campaign_id: campaignId, contact_id: contactId };
  const reply = (intent: string | null, messageId: string | null = `<${newId()}@lead.test>`) =>
    transact(world.system(org), async (tx) =>
      tx.emit('campaign.reply_received', {
        ...about,
        step_id: null,
        contact_email: 'lea@lead.test',
        email_account_id: null,
        task_id: null,
        message_id: null,
        email_id: messageId ? newId() : null,
        reply_message_id: messageId,
        thread_id: null,
        from_email: 'lea@lead.test',
        subject: 'Re: Hello',
        received_at: null,
        intent,
        intent_confidence: 1,
      }),
    );
  const received = (kind: 'reply' | 'out_of_office' | 'automated', intent: string, messageId: string) =>
    transact(world.system(org), async (tx) =>
      tx.emit('inbox.email_received', {
        ...about,
        email_id: newId(),
        email_account_id: newId(),
        message_id: messageId,
        thread_id: messageId,
        from_email: 'lea@lead.test',
        subject: 'Away',
        received_at: now.toISOString(),
        kind,
        intent,
      }),
    );
  const tasks = () => db('crm_tasks').where({ organization_id: org }).orderBy('id');
  return { org, campaignId, contactId, reply, received, tasks };
}
const settle = () => react(world.deps, SUBSCRIBERS);

test.serial('a reply opens one task about its contact, that says nothing of them in its text', async (t) => {
  const { org, contactId, reply, tasks } = await scene();
  await reply('positive');
  await settle();
  const [task, ...others] = await tasks();
  t.like(task, {
    contact_id: contactId,
    created_by: null,
    title: 'Answer an interested reply: Spring',
    title_message: {
      code: 'crm.task_of_campaign',
      values: { title: { code: 'crm.task_positive', values: {} }, campaign: 'Spring' },
    },
    type: 'Follow-up',
    priority: 'high',
    status: 'pending',
  });
  t.deepEqual(others, []);
  t.is((await world.deps.db('domain_events').where({ organization_id: org, type: 'crm.task_created' })).length, 1);
  t.is(
    (await world.deps.db('crm_activities').where({ contact_id: contactId, activity_type: 'task_created' })).length,
    1,
  );
});

test.serial('the same reply told again, and by two workers at once, is one task', async (t) => {
  const { org, campaignId, contactId, reply, tasks } = await scene();
  await reply('question', '<same@lead.test>');
  await reply('question', '<same@lead.test>');
  await Promise.all([settle(), settle()]);
  t.is((await tasks()).length, 1);
  const answer = { campaignId, contactId, intent: 'neutral', answer: '<race@lead.test>' };
  await Promise.all(
    Array.from({ length: 6 }, () => transact(world.system(org), (tx) => openTasksForReplies(tx, [answer]))),
  );
  t.is((await tasks()).length, 2);
  t.is((await world.deps.db('domain_events').where({ organization_id: org, type: 'crm.task_created' })).length, 2);
});

test.serial('two replies that a client reported without a message are two tasks', async (t) => {
  const { reply, tasks } = await scene();
  await reply('neutral', null);
  await reply('neutral', null);
  await settle();
  t.is((await tasks()).length, 2);
});

for (const [title, settings, overrides, intents] of [
  ['by default every human intent', {}, undefined, ['positive', 'question', 'neutral', 'negative']],
  ['null is the default set', { crm_task_intents: null }, undefined, ['positive', 'question', 'neutral', 'negative']],
  ['an empty list opens none', { crm_task_intents: [] }, undefined, []],
  ['switched off', { auto_create_crm_task: false }, undefined, []],
  ['the block is off', { enabled: false }, undefined, []],
  ['only some', { crm_task_intents: ['positive', 'out_of_office'] }, undefined, ['positive', 'out_of_office']],
  [
    'a campaign may say otherwise',
    { auto_create_crm_task: false },
    { auto_create_crm_task: true, crm_task_intents: ['automated'] },
    ['automated'],
  ],
] as const)
  test.serial(`which answers open tasks: ${title}`, async (t) => {
    const { reply, received, tasks } = await scene(settings, overrides);
    for (const intent of ['positive', 'question', 'neutral', 'negative', null]) await reply(intent);
    await received('out_of_office', 'out_of_office', '<away@lead.test>');
    // Receives a copy of the same message in a second mailbox.
    await received('out_of_office', 'out_of_office', '<away@lead.test>');
    await received('automated', 'automated', '<robot@lead.test>');
    await received('reply', 'positive', '<counted-already@lead.test>');
    await settle();
    const titles: Record<string, string> = {
      positive: 'Answer an interested reply: Spring',
      question: 'Answer a question: Spring',
      neutral: 'Read a reply: Spring',
      negative: 'Read a negative reply: Spring',
      out_of_office: 'Read an away message: Spring',
      automated: 'Read an automatic answer: Spring',
    };
    t.deepEqual(
      (await tasks()).map((task) => task.title),
      intents.map((intent) => titles[intent]),
    );
  });

test.serial('a contact that was erased meanwhile gets no task', async (t) => {
  const { contactId, reply, tasks } = await scene();
  await reply('positive');
  await world.deps.db('contacts').where({ id: contactId }).delete();
  await settle();
  t.deepEqual(await tasks(), []);
});
