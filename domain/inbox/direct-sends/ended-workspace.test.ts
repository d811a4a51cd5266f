import test from 'ava';
import { createWritingDesk } from '../../../test/harness/direct-sends.ts';
import { createMondayWorld } from '../../../test/harness/lead.ts';

const stage = await createMondayWorld(test);

test('an email with a slot is cancelled once its workspace will be deleted, and asks for no other slot', async (t) => {
  const desk = await createWritingDesk(stage);
  const composed = await desk.post('/unibox/compose', {
    email_account_id: desk.mailboxId,
    to: ['lea@else.test'],
    subject: 'Hello',
    body_plain: 'Hi there',
  });
  const id = composed.body.task_id as string;
  t.like(await desk.advance(id), { kind: 'send' });
  await stage.world.deps
    .db('organizations')
    .where({ id: desk.tenant.organizationId })
    .update({ deletion_scheduled_at: stage.clock.now(), deletion_scheduled_for: new Date('2100-01-01') });
  t.like(await desk.deliver(id), { outcome: 'workspace_deletion_scheduled' });
  t.like(await desk.advance(id), { kind: 'done', outcome: 'cancelled' });
  t.is(desk.smtp.taken.length, 0);
});
