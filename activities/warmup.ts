import { systemCtx, type Deps } from '../domain/kernel/context.ts';
import { warmupTurn } from '../domain/warmup/turn.ts';
import type { SmtpSender } from '../lib/smtp/index.ts';
import type { WarmupActivities } from '../workflows/warmup/contract.ts';
import { orBlock } from './blocking.ts';

/** Activities of the warmup of mailboxes. */
export function createWarmupActivities(deps: Deps, { smtp }: { smtp: SmtpSender }): WarmupActivities {
  return {
    warmupTurn: ({ organizationId, mailboxId }) =>
      orBlock(deps, organizationId, () =>
        warmupTurn(systemCtx(deps, organizationId, `warmup/${mailboxId}`), smtp, mailboxId),
      ),
  };
}
