import test from 'ava';
import { fieldsOf } from '../../../local/docs/fields.ts';
import type { EventType } from '../../platform/kernel/events.ts';
import { readTriggers, TRIGGER_EVENTS } from './read.ts';
import { isTrigger, sampleData, TRIGGER_NAMES, triggerOf, triggerSchema } from './vocabulary.ts';

for (const name of TRIGGER_NAMES) {
  test(`${name}: its sample is data of its event, and is read as the trigger`, (t) => {
    const sample = sampleData(name);
    t.deepEqual(triggerSchema(name).safeParse(sample).error?.issues ?? [], []);
    const read = readTriggers({ type: triggerOf(name).event, data: sample }).filter(({ trigger }) => trigger === name);
    t.deepEqual(read, [{ trigger: name, contactId: (sample.contact_id as string | undefined) ?? null, data: sample }]);
    t.true(TRIGGER_EVENTS.includes(triggerOf(name).event));
    t.deepEqual(
      fieldsOf(triggerSchema(name))
        .map(({ key }) => key)
        .filter((key) => !(key in sample)),
      [],
      'a sample has every field',
    );
  });
}

test('an event can be several triggers, or none', (t) => {
  const names = (type: EventType, data: object) => readTriggers({ type, data }).map(({ trigger }) => trigger);
  const deal = sampleData('deal.updated');
  t.deepEqual(names('crm.deal_updated', deal), ['deal.updated', 'deal.stage_changed']);
  t.deepEqual(names('crm.deal_updated', { ...deal, stage_id: deal.previous_stage_id, status: 'won' }), [
    'deal.updated',
    'deal.won',
  ]);
  t.deepEqual(names('crm.deal_updated', { ...deal, status: 'lost', previous_status: 'lost' }), [
    'deal.updated',
    'deal.stage_changed',
  ]);
  const task = { ...sampleData('task.updated'), status: 'completed' };
  t.deepEqual(names('crm.task_updated', { ...task, fields: ['title'] }), ['task.updated'], 'it was completed before');
  t.deepEqual(names('role.created', {}), []);
  t.deepEqual(names('contact.updated', { metadata: { bulk: true, count: 20 } }), [], 'it names no contact');
  t.deepEqual(names('crm.task_updated', { metadata: { bulk: true, count: 20 } }), []);
});

test('names of other vocabularies are no triggers', (t) => {
  t.true(isTrigger('email.replied'));
  for (const name of ['campaign.reply_received', 'toString', '']) t.false(isTrigger(name));
});
