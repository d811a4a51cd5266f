import { setTimeout as sleep } from 'node:timers/promises';
import { allOf, type Heron } from '../../client/src/index.ts';
import type { Diary } from './diary.ts';
import type { ProductRecord, RecordReader } from './record.ts';
import { stepTable } from './tally.ts';

/** A lead as GET /v1/campaigns/:id/leads answers. */
export interface Lead {
  contact_id: string;
  contact: { email: string };
  status: string;
  current_step: string | null;
  waiting_for: string | null;
  failure_reason: string | null;
  hold: { until: string | null; source: string } | null;
}

/** What the product says, at one moment. */
export interface View {
  leads: readonly Lead[];
  record: ProductRecord;
}

/** Follows a campaign. */
export interface Watch {
  /** Looks once, and remembers who was first seen to have left, and when. */
  look(): Promise<View>;
  /** When an answer of the product first said that a recipient had left: later than the fact itself. */
  readonly leftSeenAt: ReadonlyMap<string, Date>;
}

/** A lead in one of these has nothing more to come. */
const OVER = new Set(['completed', 'replied', 'bounced', 'failed', 'unsubscribed', 'undeliverable']);
const BAR = 40;
const EVENTS_SHOWN = 6;
/** Where there is no terminal to draw on, one line this often (ms). */
const PLAIN_EVERY_MS = 5_000;

/** Whether a lead needs no further emails: it has finished, or waits for a person. */
export function isThrough(lead: Lead): boolean {
  return OVER.has(lead.status) || lead.status === 'paused';
}

/** Watches through the API (leads) and the record (numbers per step). */
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

/** Every lead of a campaign whose contact is there. */
export async function readLeads(api: Heron, campaignId: string): Promise<Lead[]> {
  const path = { id: campaignId };
  const leads = await allOf((cursor) =>
    api.GET('/v1/campaigns/{id}/leads', { params: { path, query: { limit: 200, cursor } } }),
  );
  return leads.flatMap(({ contact, ...lead }) => (contact ? { ...lead, contact } : []));
}

/** Draws what happens: in place on a terminal, a line now and then elsewhere. */
export interface Screen {
  draw(view: View, diary: Diary, elapsedMs: number): void;
}

/** Makes the display: drawn over itself on a terminal, else one line now and then. */
export function createScreen(out: NodeJS.WriteStream): Screen {
  let drawn = 0;
  let lastPlain = -Infinity;
  return {
    draw(view, diary, elapsedMs) {
      if (!out.isTTY) {
        if (elapsedMs - lastPlain < PLAIN_EVERY_MS) return;
        lastPlain = elapsedMs;
        return void out.write(`  ${clock(elapsedMs)}  ${progress(view)}  ${states(view)}\n`);
      }
      const lines = [
        '',
        `  ${clock(elapsedMs)}  ${progress(view)}`,
        `  ${states(view)}`,
        '',
        ...stepTable(view.record).map((line) => `  ${line}`),
        '',
        ...diary.entries
          .slice(-EVENTS_SHOWN)
          .map(({ email, deed, letter }) => `  ${email} ${deed.replace('_', ' ')}: ${letter}`),
      ];
      const width = (out.columns || 80) - 1;
      // Up over what was drawn last time, and away with it.
      const erase = drawn > 0 ? `\x1b[${drawn}A\x1b[J` : '';
      out.write(erase + lines.map((line) => `${line.slice(0, width)}\n`).join(''));
      drawn = lines.length;
    },
  };
}

/** Minutes and seconds. */
export function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

function progress({ leads }: View): string {
  const through = leads.filter(isThrough).length;
  const filled = leads.length === 0 ? 0 : Math.floor((BAR * through) / leads.length);
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR - filled)}] ${through} of ${leads.length} through`;
}

function states({ leads }: View): string {
  const counts = new Map<string, number>();
  for (const lead of leads) {
    const state = lead.status === 'active' ? (lead.current_step ?? 'active') : lead.status;
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([state, count]) => `${count} ${state}`)
    .join(', ');
}

/** Looks and draws once a second until `done` says so, or for `limitMs`; whether it was done by then is for the checks to say. */
export async function follow(parts: {
  watch: Watch;
  screen: Screen;
  diary: Diary;
  done: (view: View) => boolean;
  limitMs: number;
  signal: AbortSignal;
}): Promise<void> {
  const started = performance.now();
  for (;;) {
    parts.signal.throwIfAborted();
    const view = await parts.watch.look();
    const elapsed = performance.now() - started;
    parts.screen.draw(view, parts.diary, elapsed);
    if (parts.done(view) || elapsed > parts.limitMs) return;
    await sleep(1000, undefined, { signal: parts.signal });
  }
}
