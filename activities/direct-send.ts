import { advanceDirectSend } from '../domain/inbox/compose/advance.ts';
import type { Deps } from '../domain/platform/kernel/context.ts';
import type { DirectSendActivities } from '../workflows/direct-send/contract.ts';
import { callVerb } from './call-verb.ts';

/** Activities of an email that a person or an agent wrote; it is sent by activities/deliver.ts. */
export function createDirectSendActivities(deps: Deps): Omit<DirectSendActivities, 'deliverSend'> {
  return {
    advanceDirectSend: (args) => callVerb(deps, args, (ctx) => advanceDirectSend(ctx, args.directSendId)),
  };
}
