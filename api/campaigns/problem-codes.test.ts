import test from 'ava';
import { json } from '../../db/connection.ts';
import { newId } from '../../lib/ids.ts';
import { createCampaign, createContact, createMailbox, enroll, type StepSpec } from '../../test/harness/factories.ts';
import { call, createWorld, type World } from '../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

interface Case {
  steps?: StepSpec[];
  fields?: Record<string, unknown>;
  mailbox?: false;
  /** Contacts of the leads; one sound lead unless said. */
  leads?: Record<string, unknown>[];
  /** Changes rows once they are there. */
  change?: (stepIds: string[]) => Promise<unknown>;
}

const email: StepSpec = { subject: 'Hello', body_plain: 'Hi' };
const waitFor = (extra: Record<string, unknown>): StepSpec => ({
  kind: 'wait',
  action: {
    type: 'wait_for_event',
    wait_event_name: 'order.paid',
    timeout_minutes: 5,
    on_timeout: 'continue',
    ...extra,
  },
});
const branches = (id: string, links: object[]) =>
  world.deps
    .db('campaign_steps')
    .where({ id })
    .update({ conditions: json({ branches: links }) });

/** Every problem code that a campaign can have before its launch, and a campaign that has it. */
const CASES: Record<string, Case> = {
  campaign_invalid: { steps: [] },
  empty_step_body: { steps: [{ subject: 'Hello' }] },
  campaign_no_mailbox: { mailbox: false },
  campaign_no_contacts: { leads: [] },
  campaign_variable_missing: { steps: [{ subject: 'Hello', body_plain: 'Your {{.App.demo.url}}' }] },
  leads_undeliverable: { leads: [{ verification_status: 'invalid' }] },
  list_bounce_risk: {
    fields: { risky_emails: true },
    leads: Array.from({ length: 50 }, () => ({ verification_status: 'risky' })),
  },
  step_no_connection: {
    steps: [email, { kind: 'action', action: { type: 'notify', message: '' } }],
    // As it is stored when the connection goes in another way than by the API.
    change: ([, step]) =>
      world.deps
        .db('campaign_steps')
        .where({ id: step })
        .update({
          action: json({ type: 'app_action', app_connection_id: null, path: '/x', output_key: 'x', inputs: {} }),
        }),
  },
  step_unreachable: { steps: [email, email], change: ([first]) => branches(first!, []) },
  wait_unbounded: { steps: [email, waitFor({ timeout_minutes: null }), email] },
  wait_timeout_unrouted: {
    steps: [email, waitFor({}), email],
    change: ([, wait, last]) =>
      branches(wait!, [{ to: last, when: [{ field: 'node_outcome', operator: 'equals', value: 'event' }] }]),
  },
};

for (const [code, given] of Object.entries(CASES))
  test(`${code} is found by validation and preflight, with a fix`, async (t) => {
    const { deps } = world;
    const tenant = await world.tenant();
    const org = tenant.organizationId;
    if (given.mailbox !== false)
      await createMailbox(deps, org, `${newId()}@ours.test`, { smtp: { host: '127.0.0.1', port: 1 } });
    const { campaignId, stepIds } = await createCampaign(deps, org, given.steps ?? [email], {
      status: 'draft',
      had_leads: false,
      ...given.fields,
    });
    await given.change?.(stepIds);
    const contacts: string[] = [];
    for (const lead of given.leads ?? [{}]) contacts.push(await createContact(deps.db, deps.clock.now(), org, lead));
    if (contacts.length > 0) await enroll(deps, org, campaignId, contacts);
    const check = async (name: string) =>
      (await call(world, 'POST', `/v1/campaigns/${campaignId}/${name}`, { token: tenant.apiKey })).body;
    for (const found of [(await check('validate')).problems, (await check('preflight')).findings]) {
      const problem = found.find((one: { code: string }) => one.code === code);
      t.truthy(problem, found.map((one: { code: string }) => one.code).join());
      t.regex(problem.fix, /\w/);
      t.regex(problem.message, /\w/);
    }
  });
