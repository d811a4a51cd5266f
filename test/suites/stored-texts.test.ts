import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { z } from 'zod';
import { EVENT_PAYLOADS, TEST_PAYLOAD } from '../../domain/platform/kernel/event-payloads.ts';

/*
 * Checks that every stored or emitted sentence is a message (code and values), so that each reader gets it in their
 * language. Columns and fields of plain text may contain only codes, or the words of a person or another system.
 */

type Origin = 'person' | 'other system' | 'code' | 'operator' | 'index' | 'rendered';

/** Names of columns and fields that may hold a sentence. */
const SPOKEN =
  /(?:^|_)(?:reason|details?|message|error|notes?|description|summary|title|words|cause|label|texts?|excerpt|response|remediation|sentence)$/;

/** Origin of each text column with such a name. `operator` is an error for logs and the command line. */
const COLUMNS: Record<string, Origin> = {
  'api_keys.description': 'person',
  'attribution_corrections.reason': 'person',
  'automation_runs.cause': 'code',
  'blob_removals.last_error': 'operator',
  'campaigns.description': 'person',
  'contact_import_problems.reason': 'code',
  'contact_outreach.job_title': 'person',
  'contacts.source_detail': 'person',
  'contacts.verification_reason': 'code',
  'crm_deals.lost_reason': 'person',
  'crm_tasks.description': 'person',
  'crm_tasks.title': 'person',
  'deliverability_events.reason': 'other system',
  'engagement_events.machine_reason': 'code',
  'goal_replays.error': 'code',
  'inbound_messages.words': 'index',
  'integration_connections.label': 'person',
  'integration_oauth_states.label': 'person',
  'labels.title': 'person',
  'meetings.canceled_reason': 'other system',
  'message_words.words': 'index',
  'oauth_applications.description': 'person',
  'order_steps.detail': 'code',
  'outbox.last_error': 'operator',
  'payments.refund_reason': 'code',
  'reaction_parked_events.last_error': 'operator',
  'reaction_streams.last_error': 'operator',
  'sends.smtp_response': 'other system',
  'sent_words.words': 'index',
  'tracked_links.label': 'person',
  'warmup_mails.error': 'code',
  'webhook_deliveries.response_body_excerpt': 'other system',
  'webhook_endpoints.description': 'person',
  'webhook_throttle_drops.reason': 'code',
};

/** Origin of each text field of an event that has such a name and no code next to it. */
const FIELDS: Record<string, Origin> = {
  'automation.notified message': 'person',
  'automation.requested cause': 'code',
  'campaign.action message': 'person',
  'campaign.email_clicked link_label': 'person',
  'contact.created source_detail': 'person',
  'contact.updated source_detail': 'person',
  'email_account.error title': 'rendered',
  'mailbox_order.needs_person reason': 'code',
  'mailbox_order.state_changed reason': 'code',
  'meeting.canceled reason': 'other system',
  'payment.state_changed reason': 'code',
  'run.state_changed reason': 'code',
};

test('a stored sentence is a message, or has an origin that is no sentence of Heron', async (t) => {
  const source = await readFile(fileURLToPath(new URL('../../db/schema.ts', import.meta.url)), 'utf8');
  const tableOf = new Map(
    [...source.matchAll(/^ {2}(\w+): \{ row: (\w+)Row;/gm)].map(([, table, row]) => [row!, table!]),
  );
  const texts = [...source.matchAll(/^(?:export )?interface (\w+)Row \{\n([^]*?)\n\}/gm)].flatMap(([, row, body]) =>
    [...body!.matchAll(/^ {2}(\w+): (.*);$/gm)]
      .filter(([, column, type]) => SPOKEN.test(column!) && /^(?:string|'.*)(?: \| null)?$/.test(type!))
      .map(([, column]) => `${tableOf.get(row!)}.${column}`),
  );
  t.deepEqual(texts.toSorted(), Object.keys(COLUMNS));
});

/** The part of an object's JSON Schema that this test reads. */
interface Shape {
  properties?: Record<string, { type?: string | string[]; enum?: unknown }>;
  anyOf?: Shape[];
}

/** Returns the text fields of a payload that may hold a sentence and have no code beside them. */
function uncoded(schema: Shape): string[] {
  if (schema.anyOf) return schema.anyOf.flatMap(uncoded);
  const fields = schema.properties ?? {};
  return Object.entries(fields)
    .filter(([name, { type, enum: choices }]) => {
      const isText = [type].flat().includes('string');
      return SPOKEN.test(name) && isText && !choices && !(`${name}_code` in fields);
    })
    .filter(([name]) => !(/^(?:message|error_detail)$/.test(name) && 'reason_code' in fields))
    .map(([name]) => name);
}

test('a sentence in an event has its code beside it, or an origin that is no sentence of Heron', (t) => {
  const found = Object.entries(EVENT_PAYLOADS).flatMap(([type, payload]) =>
    uncoded(z.toJSONSchema(payload, { unrepresentable: 'any', io: 'input' }) as Shape).map((name) => `${type} ${name}`),
  );
  t.deepEqual([...new Set(found)].toSorted(), Object.keys(FIELDS));
  t.deepEqual(uncoded(z.toJSONSchema(TEST_PAYLOAD) as Shape), []);
});
