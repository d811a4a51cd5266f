import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RawDb } from '../../harness/database.ts';

/** Record of a state that a row of a watched table has reached. */
export interface Step {
  id: number;
  /** Name of the flow. */
  marker: string;
  /** Name of the watched table. */
  subject: string;
  row: string;
  /** State of the row; null if it was deleted. */
  state: string | null;
  at: Date;
}

/**
 * Watched tables, with expressions for the flow's name and the row's state. The record does not depend on the code
 * under test: triggers write it in the transaction of the change.
 */
const WATCHED: { table: string; subject?: string; marker: string; state: string }[] = [
  { table: 'runs', marker: `new.input ->> 'name'`, state: 'new.state' },
  { table: 'direct_sends', marker: 'new.subject', state: 'new.state' },
  {
    table: 'approvals',
    marker: `coalesce((select input ->> 'name' from runs where id = new.subject_id), (select subject from direct_sends where id = new.subject_id))`,
    state: 'new.status',
  },
  { table: 'test_runs', marker: `split_part(new.prospect_email, '@', 1)`, state: 'new.state' },
  {
    table: 'test_run_steps',
    marker: `(select split_part(prospect_email, '@', 1) from test_runs where id = new.test_run_id)`,
    state: `new.kind || ' ' || new.state`,
  },
  {
    table: 'sends',
    marker: `coalesce((select subject from direct_sends where id = new.id),
      (select split_part(r.prospect_email, '@', 1) from test_run_steps s join test_runs r on r.id = s.test_run_id where s.id = new.id),
      (select input ->> 'name' from runs where campaign_id = new.campaign_id))`,
    state: 'new.state',
  },
  {
    table: 'warmup_mails',
    marker: `(select split_part(email, '@', 1) from mailboxes where id = new.mailbox_id)`,
    state: 'new.state',
  },
  // Records the mark that a worker writes before it sends the end of a message. A kill after the mark leaves it open if
  // the email was sent.
  {
    table: 'warmup_mails',
    subject: 'handovers',
    marker: `(select split_part(email, '@', 1) from mailboxes where id = new.mailbox_id)`,
    state: `coalesce(new.handover, 'none')`,
  },
  {
    table: 'sends',
    subject: 'handovers',
    marker: `(select subject from direct_sends where id = new.id)`,
    state: `coalesce(new.handover, 'none')`,
  },
  { table: 'mailbox_orders', marker: nameOf(`new.domains -> 0 ->> 'domain'`), state: 'new.state' },
  {
    table: 'order_steps',
    marker: `(select ${nameOf(`domains -> 0 ->> 'domain'`)} from mailbox_orders where id = new.order_id)`,
    state: `split_part(new.step, ':', 1) || ' ' || new.state`,
  },
  {
    table: 'domain_renewals',
    marker: `(select ${nameOf('domain')} from managed_domains where id = new.domain_id)`,
    state: 'new.state',
  },
  {
    table: 'payments',
    marker: `coalesce((select ${nameOf(`domains -> 0 ->> 'domain'`)} from mailbox_orders where id = new.subject_id),
      (select ${nameOf('d.domain')} from domain_renewals r join managed_domains d on d.id = r.domain_id where r.id = new.subject_id))`,
    state: 'new.state',
  },
  {
    table: 'mailboxes',
    marker: `split_part(new.email, '@', 1)`,
    state: `case when new.warmup is null then 'off' when new.warmup_paused_at is null then 'warming' else 'paused' end`,
  },
];

const CHANNEL = 'flow_steps';

/** Returns the name of the flow of a domain. */
function nameOf(domain: string): string {
  return `split_part(${domain}, '.', 1)`;
}

/** Makes PostgreSQL record every state of every watched row, and notify at commit. */
export async function installRecord(db: RawDb): Promise<void> {
  await db.raw(
    `create table flow_steps (id bigserial primary key, marker text, subject text, row_id text, state text, at timestamptz not null)`,
  );
  for (const { table, subject = table, marker, state } of WATCHED) {
    const name = `flow_step_${table}_${subject}`;
    const before = state.replaceAll('new.', 'old.');
    await db.raw(`
      create function ${name}() returns trigger language plpgsql security definer set search_path = public as $$
      declare who text; now_is text;
      begin
        if tg_op = 'UPDATE' then
          if (${before}) is not distinct from (${state}) then return null; end if;
        end if;
        if tg_op = 'DELETE' then
          insert into flow_steps (marker, subject, row_id, state, at) values (null, '${subject}', ${idOf(table, 'old')}, null, clock_timestamp());
          return null;
        end if;
        who := ${marker};
        now_is := ${state};
        insert into flow_steps (marker, subject, row_id, state, at) values (who, '${subject}', ${idOf(table, 'new')}, now_is, clock_timestamp());
        if who is not null then perform pg_notify('${CHANNEL}', who || '|${subject} ' || now_is); end if;
        return null;
      end $$`);
    await db.raw(
      `create trigger ${name} after insert or update or delete on ${table} for each row execute function ${name}()`,
    );
  }
}

/** Returns the expression that identifies a row of a table. */
function idOf(table: string, row: 'new' | 'old'): string {
  return table === 'order_steps' ? `${row}.order_id || ' ' || ${row}.step` : `${row}.id::text`;
}

/** Reports recorded states until it is stopped; reconnects when PostgreSQL is back. */
export function startWatch(
  url: string,
  onStep: (marker: string, state: string) => void,
): { ready: Promise<void>; stop(): Promise<void> } {
  let stopped = false;
  let current: pg.Client | undefined;
  let told: () => void = () => {};
  const ready = new Promise<void>((resolve) => (told = resolve));
  const loop = (async () => {
    while (!stopped) {
      const client = new pg.Client({ connectionString: url });
      const ended = new Promise<void>((resolve) => {
        client.on('error', () => resolve());
        client.on('end', () => resolve());
      });
      try {
        await client.connect();
        client.on('notification', ({ payload = '' }) => {
          const at = payload.indexOf('|');
          onStep(payload.slice(0, at), payload.slice(at + 1));
        });
        await client.query(`listen ${CHANNEL}`);
        current = client;
        told();
        await ended;
      } catch {
        // PostgreSQL is unreachable: connects again below.
      }
      current = undefined;
      await client.end().catch(() => {});
      if (!stopped) await sleep(100);
    }
  })();
  return {
    ready,
    async stop() {
      stopped = true;
      await current?.end().catch(() => {});
      await loop;
    },
  };
}

/** Returns the record so far, in the order of the changes. */
export async function readRecord(db: RawDb): Promise<Step[]> {
  const rows = await db('flow_steps').orderBy('id');
  // A payment is stored before its order, so its marker is known only from later rows.
  const markers = new Map<string, string>();
  for (const row of rows) if (row.marker) markers.set(`${row.subject} ${row.row_id}`, row.marker);
  return rows.map((row: any) => {
    const key = `${row.subject} ${row.row_id}`;
    return {
      id: Number(row.id),
      marker: row.marker ?? markers.get(key) ?? '',
      subject: row.subject,
      row: row.row_id,
      state: row.state,
      at: row.at,
    };
  });
}
