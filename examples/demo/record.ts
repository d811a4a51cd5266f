/**
 * The only file of the demo that reads PostgreSQL; all others use the REST API. It reads numbers per step and email,
 * for which there is no public route yet.
 */
import { connectRaw } from '../../db/connection.ts';

/** Email in the product's database. */
export interface SendRecord {
  email: string;
  step: string;
  state: string;
  messageId: string | null;
  /** Time at which a worker claimed the email. The email may be sent from this time on. */
  claimedAt: Date | null;
  sentAt: Date | null;
  openedAt: Date | null;
  machineOpenedAt: Date | null;
  clickedAt: Date | null;
  machineClickedAt: Date | null;
  repliedAt: Date | null;
  bouncedAt: Date | null;
  unsubscribedAt: Date | null;
}

/** Result of a wait_for_event step for one contact. */
interface WaitRecord {
  email: string;
  state: 'open' | 'resumed' | 'timed_out' | 'cancelled';
}

/** Call of the app for one contact. */
interface CallRecord {
  email: string;
  eventId: string;
  state: string;
  offerCode: string | null;
}

export interface ProductRecord {
  sends: readonly SendRecord[];
  waits: readonly WaitRecord[];
  calls: readonly CallRecord[];
}

export interface RecordReader {
  read(campaignId: string): Promise<ProductRecord>;
  close(): Promise<void>;
}

const SENDS = `
  select s.recipient as email, st.name as step, s.state, s.message_id as "messageId", s.claimed_at as "claimedAt", s.sent_at as "sentAt",
    s.opened_at as "openedAt", s.machine_opened_at as "machineOpenedAt", s.clicked_at as "clickedAt",
    s.machine_clicked_at as "machineClickedAt", s.replied_at as "repliedAt", s.bounced_at as "bouncedAt", s.unsubscribed_at as "unsubscribedAt"
  from sends s join campaign_steps st on st.id = s.step_id where s.campaign_id = ?`;

const WAITS = `select c.email, w.state from waits w join contacts c on c.id = w.contact_id where w.campaign_id = ?`;

const CALLS = `
  select c.email, r.id as "eventId", r.state, r.output ->> 'offer_code' as "offerCode"
  from step_runs r join contacts c on c.id = r.contact_id where r.campaign_id = ? and r.kind = 'app_action'`;

/** Opens the product's database. */
export function openRecord(databaseUrl: string): RecordReader {
  const db = connectRaw({ url: databaseUrl, max: 2, name: 'heron-demo' });
  const rows = async <T>(sql: string, campaignId: string): Promise<T[]> =>
    ((await db.raw(sql, [campaignId])) as { rows: T[] }).rows;
  return {
    read: async (campaignId) => ({
      sends: await rows<SendRecord>(SENDS, campaignId),
      waits: await rows<WaitRecord>(WAITS, campaignId),
      calls: await rows<CallRecord>(CALLS, campaignId),
    }),
    close: () => db.destroy(),
  };
}
