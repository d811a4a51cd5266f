import type { StoredAttachment } from '../../db/json-columns.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { attachedTo } from './campaign/attachments.ts';
import { settingsColumns } from './campaign/outreach-settings.ts';
import { askedNow, suppressedNow } from '../directory/suppression-check.ts';

interface Json {
  [key: string]: any;
}

/** Rows from which a test run's email is composed, in the same shape as for a lead's email. */
interface TestEmail {
  enrollment: Json;
  campaign: Json;
  step: Json | null;
  variant: Json | null;
  contact: Json;
  files: StoredAttachment[];
  workspace: Json | null;
  overrides: Json | null;
  suppressed: boolean;
  asked: boolean;
  /** Always null, because a test keeps no gap to the mailbox's other emails. */
  mailbox_sent_at: null;
}

/**
 * Returns the rows needed to claim an email of a test run. Its row in `sends` has no lead or campaign, so the test run
 * takes their place. A test is sent at any hour and in any status of the campaign, to the test's address and without
 * copies. Returns undefined for other emails.
 */
export async function readTestEmail(tx: Tx, sendId: string): Promise<TestEmail | undefined> {
  const [row] = await tx.org.sql<Omit<TestEmail, 'enrollment' | 'mailbox_sent_at'> & { run: Json }>(
    `select to_jsonb(r) as run, to_jsonb(c) as campaign, to_jsonb(st) as step, to_jsonb(v) as variant, to_jsonb(ct) as contact,
       ${attachedTo('c.id', 'st.id')} as files,
       ${settingsColumns('c')},
       ${suppressedNow('r.organization_id', 'r.prospect_email')} as suppressed,
       ${askedNow('r.organization_id', 'r.prospect_email')} as asked
     from test_run_steps t
     join test_runs r on r.id = t.test_run_id
     join campaigns c on c.id = r.campaign_id
     join contacts ct on ct.id = r.contact_id
     left join campaign_steps st on st.id = t.step_id
     left join campaign_variants v on v.id = t.variant_id
     where t.organization_id = :org and t.id = :send`,
    { send: sendId, now: tx.now },
  );
  if (!row) return undefined;
  const { run, campaign, contact, step, ...rest } = row;
  return {
    ...rest,
    mailbox_sent_at: null,
    step: step && { ...step, ...run.copy },
    enrollment: {
      id: run.id,
      state: run.state === 'running' ? 'active' : run.state,
      app_values: run.app_values,
      conversation: run.conversation,
      hold_since: null,
    },
    campaign: { ...campaign, ...ALWAYS_OPEN, status: 'active', cc: [], bcc: [] },
    // The verification status belongs to the contact's own address, which a test does not mail.
    contact: { ...contact, email: run.prospect_email, subscribed: true, verification_status: 'unknown' },
  };
}

const ALWAYS_OPEN = { days: 127, start_time: '', end_time: '', schedule_windows: [], start_date: null, end_date: null };
