import { setTimeout as sleep } from 'node:timers/promises';
import { allOf, type Heron } from '../../client/src/index.ts';
import type { ProductRecord, RecordReader } from './record.ts';

/** Lead, as returned by GET /v1/campaigns/:id/leads. */
export interface Lead {
  contact_id: string;
  contact: { email: string };
  status: string;
  current_step: string | null;
  waiting_for: string | null;
  failure_reason: string | null;
  hold: { until: string | null; source: string } | null;
}

/** Answers of the product at one time. */
export interface View {
  leads: readonly Lead[];
  record: ProductRecord;
}

/** Functions that follow a campaign. */
interface Watch {
  /** Reads the product's answers, and records when people are first reported as finished. */
  look(): Promise<View>;
  /** Times at which the product first reported recipients as finished. They finished some time before. */
  readonly leftSeenAt: ReadonlyMap<string, Date>;
}

/** Final statuses of a lead. */
const OVER = new Set(['completed', 'replied', 'bounced', 'failed', 'unsubscribed', 'undeliverable']);
const LOOK_EVERY_MS = 500;

/** Returns true if a lead gets no further emails because it has finished or is paused. */
export function isThrough(lead: Lead): boolean {
  return OVER.has(lead.status) || lead.status === 'paused';
}

/** Creates a watch that reads leads from the API and numbers per step from the database. */
export function createWatch(api: Heron, campaignId: string, record: RecordReader): Watch {
  const leftSeenAt = new Map<string, Date>();
  return {
    leftSeenAt,
    async look() {
      const leads = await readLeads(api, campaignId);
      const now = new Date();
      for (const lead of leads) {
        if (isThrough(lead) && !leftSeenAt.has(lead.contact.email)) leftSeenAt.set(lead.contact.email, now);
      }
      return { leads, record: await record.read(campaignId) };
    },
  };
}

/** Returns every lead of a campaign whose contact exists. */
export async function readLeads(api: Heron, campaignId: string): Promise<Lead[]> {
  const path = { id: campaignId };
  const leads = await allOf((cursor) =>
    api.GET('/v1/campaigns/{id}/leads', { params: { path, query: { limit: 200, cursor } } }),
  );
  return leads.flatMap(({ contact, ...lead }) => (contact ? { ...lead, contact } : []));
}

/** Summarizes the progress of the leads in one line. */
export function toProgress({ leads }: View): string {
  const through = leads.filter(isThrough).length;
  const counts = new Map<string, number>();
  for (const lead of leads) {
    const state = lead.status === 'active' ? (lead.current_step ?? 'active') : lead.status;
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  const states = [...counts].sort((a, b) => b[1] - a[1]).map(([state, count]) => `${count} ${state}`);
  return `${through} of ${leads.length} through (${states.join(', ')})`;
}

/**
 * Takes snapshots twice a second until `done` returns true, for at most `limitMs`. If the campaign is unfinished then,
 * the later checks report it. `onView` gets every snapshot, including the last.
 */
export async function follow(parts: {
  watch: Watch;
  onView: (view: View) => void;
  done: (view: View) => boolean;
  limitMs: number;
  signal: AbortSignal;
}): Promise<void> {
  const started = performance.now();
  for (;;) {
    parts.signal.throwIfAborted();
    const view = await parts.watch.look();
    parts.onView(view);
    if (parts.done(view) || performance.now() - started > parts.limitMs) return;
    await sleep(LOOK_EVERY_MS, undefined, { signal: parts.signal });
  }
}
