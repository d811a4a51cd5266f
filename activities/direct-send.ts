import { advanceDirectSend } from '../domain/inbox/direct-sends/advance.ts';
import { directSendApproval } from '../domain/inbox/direct-sends/send-approval.ts';
import { FAILED_DIRECT_EMAIL } from '../domain/platform/dead-letters.ts';
import { retryFailedEmail } from '../domain/sending/replay.ts';
import { directSendWorkflow, type DirectSendActivities } from '../workflows/direct-send/contract.ts';
import { callVerb } from './call-verb.ts';
import { family } from './family.ts';

/**
 * Workflow and activities for emails written by a person or an agent. The activity that sends the emails belongs to
 * `enrollment`.
 */
export const directSend = family<Omit<DirectSendActivities, 'deliverSend'>>({
  contract: directSendWorkflow,
  queue: 'workflows',
  activities: ({ deps }) => ({
    advanceDirectSend: (args) => callVerb(deps, args, (ctx) => advanceDirectSend(ctx, args.directSendId)),
  }),
  mustBeOpen: {
    table: 'direct_sends',
    open: `state in ('awaiting_approval', 'queued')`,
    // Emails that are being sent and have no other workflow: of a direct send that has ended, or of a lead or test run
    // that has been deleted. The workflow must still settle them.
    further: `select s.organization_id, s.id from sends s left join direct_sends d on d.id = s.id
      where s.state = 'sending' and s.enrollment_id is null and d.state is distinct from 'queued'
        and d.state is distinct from 'awaiting_approval' and not exists (select from test_run_steps t where t.id = s.id)`,
  },
  blocked: { taskType: 'direct_send', isStamped: true },
  deadLetters: [{ taskType: FAILED_DIRECT_EMAIL, retry: retryFailedEmail }],
  approval: directSendApproval,
});
