import { setTimeout as sleep } from 'node:timers/promises';
import { createCampaign, createContact, createMailbox, createTenant, enroll } from '../test/harness/factories.ts';
import { replyTo } from '../test/harness/inbound.ts';
import type { MailWorld } from '../test/harness/mail.ts';
import { createEndpoint } from '../test/harness/webhooks.ts';
import { newId } from '../lib/ids.ts';
import type { BenchContext } from './context.ts';
import { launchCampaign } from './data.ts';

/** Pause (ms) between two requests of a series. */
const PAUSE_MS = 100;
/** Maximum time (ms) to wait for an effect. If the effect is missing, this time is used as its latency. */
const PATIENCE_MS = 120_000;

/**
 * Tenant that uses the installation normally, while another tenant uses up its limits. Each function returns `count`
 * latencies (ms).
 */
export interface Neighbour {
  /** Measures reads of a list and of a record, and writes. */
  requests(count: number): Promise<number[]>;
  /** Measures the time from the commit of a new contact to the arrival of its webhook. */
  webhooks(count: number): Promise<number[]>;
  /** Measures the time from the API's answer to a decision to the arrival of the approved email. */
  approvals(count: number): Promise<number[]>;
  /** Measures the time from the arrival of a reply in the mailbox to the end of the lead's sequence. */
  replies(count: number): Promise<number[]>;
}

/** Creates the tenant with a mailbox on the test's mail servers and a webhook endpoint. */
export async function openNeighbour({ assembly, stack, helper }: BenchContext, mail: MailWorld): Promise<Neighbour> {
  const { deps } = assembly;
  const tenant = await createTenant(deps, 'Neighbour');
  const { organizationId } = tenant;
  const email = 'sender@neighbour.example.com';
  const box = await mail.addMailbox({ email, password: 'secret' });
  const mailboxId = await createMailbox(
    deps,
    organizationId,
    email,
    { smtp: box.smtp, imap: box.imap },
    { campaign_limit: 100_000 },
  );
  const receiver = await helper('webhook-receiver');
  await createEndpoint(deps, organizationId, `http://127.0.0.1:${receiver.port}/hook`, {
    event_types: ['contact.created'],
  });

  async function ask(method: string, path: string, token: string, body?: object): Promise<any> {
    const response = await fetch(`${stack.urls.api}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${JSON.stringify(answer)}`);
    return answer;
  }

  async function timedRequest(method: string, path: string, body?: object): Promise<number> {
    const start = performance.now();
    await ask(method, path, tenant.apiKey, body);
    return performance.now() - start;
  }

  async function sendCampaign(count: number): Promise<string> {
    const steps = [
      { subject: 'A question', body_plain: 'Hello' },
      { body_plain: 'And?', wait_after: 3 },
    ];
    const { campaignId } = await createCampaign(deps, organizationId, steps, { stop_on_reply: true });
    for (let n = 0; n < count; n += 1) {
      const contactId = await createContact(deps.db, deps.clock.now(), organizationId);
      await enroll(deps, organizationId, campaignId, [contactId]);
    }
    await launchCampaign(assembly, tenant, campaignId);
    return campaignId;
  }

  return {
    async requests(count) {
      const taken: number[] = [];
      for (let n = 0; n < count; n += 1) {
        const kind = n % 4;
        if (kind === 0) taken.push(await timedRequest('POST', '/contacts', [{ email: `${newId()}@example.org` }]));
        else taken.push(await timedRequest('GET', kind === 1 ? '/contacts?limit=50' : '/campaigns'));
        await sleep(PAUSE_MS);
      }
      return taken;
    },

    async webhooks(count) {
      const emails = Array.from({ length: count }, () => `${newId()}@example.net`);
      for (const address of emails) {
        await ask('POST', '/contacts', tenant.apiKey, [{ email: address }]);
        await sleep(PAUSE_MS);
      }
      const events: { id: string; created_at: Date }[] = await deps
        .db('domain_events as e')
        .join('contacts as c', deps.db.raw(`c.id = (e.data ->> 'contact_id')::uuid`))
        .where({ 'e.organization_id': organizationId, 'e.type': 'contact.created' })
        .whereIn('c.email', emails)
        .select('e.id', 'e.created_at');
      if (events.length !== count) throw new Error(`${events.length} of ${count} events were found`);
      for (const end = Date.now() + PATIENCE_MS; ; await sleep(200)) {
        const arrived = new Map((await receiver.ask<[string, number, number][]>('dump')).map(([id, at]) => [id, at]));
        if (events.every(({ id }) => arrived.has(id)) || Date.now() > end)
          return events.map(({ id, created_at: at }) => (arrived.get(id) ?? end) - at.getTime());
      }
    },

    async approvals(count) {
      const taken: number[] = [];
      for (let n = 0; n < count; n += 1) {
        const to = `${newId()}@example.com`;
        const { approval_id: id } = await ask('POST', `/emails/${mailboxId}/send`, tenant.apiKey, {
          to: [to],
          subject: 'A question',
          body_plain: 'Hello',
        });
        await ask('POST', `/approvals/${id}/decision`, tenant.sessionToken, { decision: 'approved' });
        const start = performance.now();
        await mail.waitFor(({ envelope }) => envelope.to.includes(to), PATIENCE_MS);
        taken.push(performance.now() - start);
      }
      return taken;
    },

    async replies(count) {
      const campaignId = await sendCampaign(count);
      const sent = async () =>
        deps
          .db('sends')
          .where({ campaign_id: campaignId, state: 'sent' })
          .select('message_id', 'recipient', 'enrollment_id');
      for (const end = Date.now() + PATIENCE_MS; (await sent()).length < count; await sleep(200))
        if (Date.now() > end) throw new Error('the emails that are to be answered were not sent');
      const answered = new Map<string, number>();
      for (const { message_id: messageId, recipient, enrollment_id: id } of await sent()) {
        answered.set(id, Date.now());
        box.deliver(replyTo({ messageId, from: email, to: recipient }, 'Call me on Thursday, please.'));
      }
      for (const end = Date.now() + PATIENCE_MS; ; await sleep(200)) {
        const rows: { id: string; finished_at: Date | null }[] = await deps
          .db('enrollments')
          .where({ campaign_id: campaignId })
          .select('id', 'finished_at');
        if (rows.every((row) => row.finished_at) || Date.now() > end)
          return rows.map((row) => (row.finished_at?.getTime() ?? end) - answered.get(row.id)!);
      }
    },
  };
}
