import { createAppConnection } from '../../domain/connect/app-connections/connections.ts';
import { signalLauncher } from '../../domain/sending/control/signals.ts';
import { systemCtx } from '../../domain/platform/kernel/context.ts';
import { type TestAssembly, type TestDeps } from '../harness/database.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { json } from '../../db/connection.ts';
import {
  createCampaign,
  createContact,
  createMailbox,
  createTenant,
  enroll,
  type Tenant,
} from '../harness/factories.ts';
import type { MailWorld } from '../harness/mail.ts';
import type { Outside } from './outside.ts';
import { EVENT_NAME, MARKS, type Behaviour, type Transport, type Person } from './people.ts';
import type { Random } from './random.ts';

export interface Scenario {
  tenant: Tenant;
  campaignId: string;
  /** Ids of the steps: email, app_action, wait_for_event, follow-up email. */
  stepIds: [string, string, string, string];
  people: Person[];
  mailboxIds: string[];
}

interface ScenarioOptions {
  contacts: number;
  mailboxes: number;
  /**
   * True in full runs only. For some contacts, the wait times out or the email is deferred, which takes a minute each.
   */
  slow: boolean;
  replies: boolean;
}

/**
 * Creates a workspace with mailboxes, an app connection, contacts and an active campaign. Does not start the campaign.
 */
export async function prepare(
  { deps }: TestAssembly,
  mail: MailWorld,
  outside: Outside,
  random: Random,
  options: ScenarioOptions,
): Promise<Scenario> {
  const tenant = await createTenant(deps, 'Faults');
  const { organizationId } = tenant;
  const ctx = systemCtx(deps, organizationId, 'faults');
  const mailboxIds = await mailboxes(deps, mail, outside, organizationId, options.mailboxes);
  const { connection, secret } = await createAppConnection(ctx, { name: 'Shop', baseUrl: outside.appUrl });
  outside.trust(secret);

  const { campaignId, stepIds } = await createCampaign(
    deps,
    organizationId,
    [
      { name: 'Hello', subject: 'Hello {{.FirstName}}', body_plain: `Hi {{.FirstName}}. ${MARKS[0]}` },
      {
        name: 'Offer',
        kind: 'action',
        action: {
          type: 'app_action',
          app_connection_id: connection.id,
          path: '/offer',
          output_key: 'offer',
          inputs: { email: '{{.Email}}' },
        },
      },
      {
        name: 'Paid?',
        kind: 'action',
        action: {
          type: 'wait_for_event',
          wait_event_name: EVENT_NAME,
          timeout_minutes: 1,
          on_timeout: 'continue',
          output_key: 'order',
        },
      },
      { name: 'Follow-up', body_plain: `Your code is {{.App.offer.code}}. ${MARKS[1]}` },
    ],
    { sender_strategy: 'explicit' },
  );
  await deps
    .db('campaign_senders')
    .insert(mailboxIds.map((mailbox_id) => ({ organization_id: organizationId, campaign_id: campaignId, mailbox_id })));
  // A tenth of the addresses bounces on purpose, which would pause the campaign.
  await deps.db('campaign_advanced').insert({
    campaign_id: campaignId,
    organization_id: organizationId,
    overrides: json({ bounce_pipeline: { auto_pause_campaign_on_spike: false } }),
    updated_at: deps.clock.now(),
  });

  const people: Person[] = [];
  for (let index = 0; index < options.contacts; index += 1)
    people.push(await person(deps, organizationId, random, index, options));
  const enrollmentIds = await enroll(
    deps,
    organizationId,
    campaignId,
    people.map(({ contactId }) => contactId),
  );
  for (const [index, enrollmentId] of enrollmentIds.entries()) people[index]!.enrollmentId = enrollmentId;
  for (const someone of people) scriptMail(mail, someone, random);
  return { tenant, campaignId, stepIds: stepIds as Scenario['stepIds'], people, mailboxIds };
}

/** Signals the campaign's launcher. */
export async function launch(
  { deps }: TestAssembly,
  { tenant, campaignId }: Pick<Scenario, 'tenant' | 'campaignId'>,
): Promise<void> {
  await transact(systemCtx(deps, tenant.organizationId, 'faults'), async (tx) =>
    signalLauncher(tx, campaignId, 'started'),
  );
}

async function mailboxes(
  deps: TestDeps,
  mail: MailWorld,
  outside: Outside,
  organizationId: string,
  count: number,
): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const box = await mail.addMailbox({ email: `sender${index}@faults.example.com`, password: 'secret' });
    outside.watch(box, { keepsSent: index % 2 === 0 });
    ids.push(
      await createMailbox(
        deps,
        organizationId,
        box.email,
        { smtp: box.smtp, imap: box.imap },
        { min_wait_time: 1, campaign_limit: 100_000 },
      ),
    );
  }
  return ids;
}

async function person(
  deps: TestDeps,
  organizationId: string,
  random: Random,
  index: number,
  { slow, replies }: ScenarioOptions,
): Promise<Person> {
  const email = `p${String(index).padStart(4, '0')}@people.example.org`;
  const draw = random.next();
  let behaviour: Behaviour =
    draw < 0.1 ? 'bounce' : draw < 0.2 && replies ? 'reply' : draw < 0.45 && slow ? 'timeout' : 'event';
  let transport = random.pick<Transport>([
    'plain',
    'plain',
    'plain',
    'plain',
    'plain',
    'plain',
    'delay',
    'delay',
    'delay',
    'delay',
    'drop',
    'lose',
  ]);
  if (behaviour === 'bounce') transport = 'plain';
  // A temporarily refused email is retried after a minute, for which only the first contacts have enough time.
  if (slow && index < 12 && index % 4 === 0) [behaviour, transport] = ['event', 'defer'];
  const contactId = await createContact(deps.db, deps.clock.now(), organizationId, { email, first_name: `P${index}` });
  return {
    contactId,
    enrollmentId: '',
    email,
    behaviour,
    transport,
    appFailures: random.next() < 0.15 ? 1 : 0,
    appDelayMs: random.next() < 0.3 ? Math.round(random.between(300, 2000)) : 0,
    eventDelayMs: random.next() < 0.5 ? 0 : Math.round(random.between(1, 1500)),
    code: `CODE${index}X${Math.floor(random.next() * 1e6)}`,
  };
}

function scriptMail(mail: MailWorld, { email, behaviour, transport }: Person, random: Random): void {
  if (behaviour === 'bounce') mail.script(email, { kind: 'reject' });
  else if (transport === 'delay') mail.script(email, { kind: 'delay', ms: Math.round(random.between(500, 2500)) });
  else if (transport === 'defer') mail.script(email, { kind: 'defer', times: 1 });
  else if (transport === 'drop') mail.script(email, { kind: 'drop' });
  else if (transport === 'lose') mail.script(email, { kind: 'drop', lose: true });
}
