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
  mustBeOpen: { table: 'direct_sends', open: `state in ('awaiting_approval', 'queued')` },
  blocked: { taskType: 'direct_send', isStamped: true },
  deadLetters: [{ taskType: FAILED_DIRECT_EMAIL, retry: retryFailedEmail }],
  approval: directSendApproval,
});
