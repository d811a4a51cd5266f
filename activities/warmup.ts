import { advanceWarmup } from '../domain/mailboxes/warmup/advance.ts';
import { warmupWorkflow, type WarmupActivities } from '../workflows/warmup/contract.ts';
import { callVerb } from './call-verb.ts';
import { family } from './family.ts';

/** Workflow and activities for mailbox warmup. */
export const warmup = family<WarmupActivities>({
  contract: warmupWorkflow,
  queue: 'mail',
  activities: ({ deps, smtp }) => ({
    warmupTurn: (args) => callVerb(deps, args, (ctx) => advanceWarmup(ctx, smtp, args.mailboxId)),
  }),
  // If a warmup was stopped while an email was being sent, the workflow must still settle that email. It may have been
  // returned to its slot since then.
  mustBeOpen: {
    table: 'mailboxes',
    open: `mailboxes.warmup is not null
       or exists (select 1 from warmup_mails w where w.mailbox_id = mailboxes.id and w.state in ('reserved', 'sending'))`,
  },
  blocked: { taskType: 'warmup', table: 'warmup_standings', key: 'mailbox_id', open: 'true', mark: 'run_blocked' },
});
