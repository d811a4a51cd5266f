import { recordInbound } from '../../domain/sending/outcomes/record-inbound.ts';
import { newId } from '../../lib/ids.ts';
import { createCampaign, createMailbox } from '../harness/factories.ts';
import { awayMessage, replyTo, storeSentContent, type Original } from '../harness/inbound.ts';
import { createSentLead } from '../harness/standing-leads.ts';
import { ENDLESS, HOSTILE, STRANGER, WIDE, type PageToSee, type Stage } from './stage.ts';
import { externalText } from '../../domain/platform/external-text.ts';

/** Returns a message with HTML such as mail programs and attackers write. */
export function htmlFrom(original: Original, html: string, subject = 'Re: Hello'): Buffer {
  const lines = [
    `From: Lea Lead <${original.to}>`,
    `To: ${original.from}`,
    `Subject: ${subject}`,
    `Message-ID: <${newId()}@lead.test>`,
    `In-Reply-To: ${original.messageId}`,
    'MIME-Version: 1.0',
    'Content-Type: text/html; charset=utf-8',
    '',
    html,
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n`);
}

/** Creates replies of every kind, some of them hostile, in a mailbox of their own. */
export async function sceneOfInbox({ world, tenant, post }: Stage): Promise<PageToSee[]> {
  const { deps } = world;
  const email = 'mona@northwind.example';
  const mailboxId = await createMailbox(deps, tenant.organizationId, email, {
    smtp: { host: '127.0.0.1', port: 2525 },
  });
  const { campaignId, stepIds } = await createCampaign(
    deps,
    tenant.organizationId,
    [
      {
        name: 'Hello',
        subject: 'Lights for {{.Company}}',
        body_plain: 'Hello {{.FirstName}},\n\nwho looks after your lights?',
      },
      { name: 'Follow-up', body_plain: 'Have you had a moment?', wait_after: 3 },
    ],
    { name: 'Answers from Bremen' },
  );
  const mailed = async (to: string, contact: { first_name?: string; last_name?: string; company?: string }) => {
    const lead = await createSentLead(deps, tenant.organizationId, {
      campaignId,
      stepId: stepIds[0]!,
      mailbox: { id: mailboxId, email },
      email: to,
      contact,
    });
    await storeSentContent(
      deps,
      tenant.organizationId,
      { id: lead.sendId, from: email, to },
      {
        subject: `Lights for ${contact.company ?? 'your shop'}`,
        text: `Hello ${contact.first_name},\n\nwho looks after your lights?`,
      },
    );
    return lead;
  };
  let uid = 0;
  const hoursAgo = (hours: number) => new Date(deps.clock.now().getTime() - hours * 3_600_000);
  const receive = (raw: Buffer) =>
    recordInbound(world.system(tenant.organizationId), { id: mailboxId, email }, raw, {
      folder: 'INBOX',
      uidValidity: 1,
      uid: (uid += 1),
      receivedAt: hoursAgo(20 - uid * 3),
    });
  const grace = await mailed('grace@navy.example', { first_name: 'Grace', last_name: 'Hopper', company: 'Compilers' });
  const alan = await mailed('alan@bletchley.example', { first_name: 'Alan', company: 'Machines' });
  const mallory = await mailed(STRANGER, { first_name: HOSTILE, last_name: WIDE, company: HOSTILE });
  const amal = await mailed('amal@shop.example', { first_name: 'أمل', company: 'متجر الأنوار' });
  const away = await mailed('jean@example.com', { first_name: 'Jean' });
  await deps
    .db('sends')
    .where({ campaign_id: campaignId })
    .update({ sent_at: hoursAgo(48) });
  await receive(awayMessage(away.original, 'I am back on the fourth of May.'));
  await receive(replyTo(amal.original, 'مرحبا، نحن مهتمون. كم السعر؟', { subject: 'Re: أضواء' }));
  await receive(htmlFrom(mallory.original, `${HOSTILE}<p>${ENDLESS}</p>`, `Re: ${WIDE}`));
  await receive(
    htmlFrom(
      alan.original,
      '<p>Dear Mona,</p><p>please have a look at <a href="https://example.com/shop">our shop</a>:</p><ul><li>six windows</li><li>two doors</li></ul><table><tr><td>Budget</td><td>4,000</td></tr></table><p>Best regards<br>Alan</p>',
    ),
  );
  await receive(
    replyTo(
      grace.original,
      'Hello Mona,\n\nsounds interesting. What does it cost, and when could you come by?\n\nGrace\n\nOn Monday Mona wrote:\n> Hello Grace,\n>\n> who looks after your lights?',
    ),
  );
  const katherine = await mailed('katherine@orbit.example', { first_name: 'Katherine', company: 'Orbit' });
  await deps
    .db('enrollments')
    .where({ id: katherine.enrollmentId })
    .update({
      current_step_id: stepIds[1],
      waiting_for: externalText('step 2 of 2 (Follow-up): waiting'),
      waiting_until: hoursAgo(-24),
    });
  for (const lead of [grace, mallory, katherine]) {
    const runId = newId();
    await deps.db('step_runs').insert({
      id: runId,
      organization_id: tenant.organizationId,
      enrollment_id: lead.enrollmentId,
      campaign_id: campaignId,
      contact_id: lead.contactId,
      step_id: stepIds[0],
      seq: 1,
      kind: 'email',
      state: 'completed',
      outcome: 'sent',
      started_at: hoursAgo(49),
      completed_at: hoursAgo(48),
    });
    await deps
      .db('sends')
      .where({ id: lead.sendId })
      .update({ step_run_id: runId, slot_at: hoursAgo(48), sent_at: hoursAgo(48) });
    await deps
      .db('enrollments')
      .where({ id: lead.enrollmentId })
      .update({ entered_at: hoursAgo(60), launched_at: hoursAgo(50) });
  }
  const warm = await post('/categories', { title: 'Warm', color: '#2f9e44' });
  await post('/unibox/thread/labels', { thread_id: alan.original.messageId, category_ids: [warm.id] }, 'PUT');
  await post('/templates', { name: 'Prices', subject: '', body_plain: 'Hello {{.FirstName}}, here are our prices.' });
  await post('/unibox/drafts', { thread_id: alan.original.messageId, body_plain: 'Dear Alan, I will look at it' });
  await post('/unibox/reply', {
    thread_id: grace.original.messageId,
    body_plain: 'Hello Grace, I will call you on Monday.',
    send_mode: 'scheduled',
    scheduled_at: new Date(deps.clock.now().getTime() + 86_400_000).toISOString(),
  });
  const at = (lead: { original: Original }, view = '') =>
    `/inbox?${view}thread=${encodeURIComponent(lead.original.messageId)}`;
  return [
    ['inbox-empty', '/inbox', 'empty'],
    ['inbox', '/inbox'],
    ['inbox-thread', at(grace)],
    ['inbox-html', at(alan)],
    ['inbox-hostile', at(mallory)],
    ['inbox-right-to-left', at(amal)],
    ['inbox-drafts', '/inbox?view=drafts'],
    ['inbox-scheduled', '/inbox?view=scheduled'],
    ['inbox-sent', '/inbox?view=sent'],
    ['way', `/campaigns/${campaignId}/leads/${katherine.contactId}`],
    ['way-replied', `/campaigns/${campaignId}/leads/${grace.contactId}`],
    ['way-hostile', `/campaigns/${campaignId}/leads/${mallory.contactId}`],
    ['inbox-none-found', '/inbox?q=nothing-like-it'],
  ];
}
