import { settleNode } from './advance.ts';
import { startAutomationRuns, type RunTrigger } from './start.ts';
import { declareSubscriber } from '../../platform/events/subscriber.ts';
import { readCorrection, readTriggers, TRIGGER_EVENTS } from '../triggers/read.ts';
import { message } from '../../../messages/index.ts';

/**
 * Starts the runs of automations, and continues runs that waited for a provider. An event starts at most one run per
 * automation, so applying the same event again has no effect.
 */
export const runAutomations = declareSubscriber({
  name: 'run_automations',
  types: ['automation.requested', 'integration.action_settled', 'inbox.reply_classified', ...TRIGGER_EVENTS],
  startsFrom: 'now',
  optional: {
    types: ['inbox.reply_classified', ...TRIGGER_EVENTS],
    wanted: 'select from automations a where a.organization_id = n.organization_id and a.enabled',
  },
  async applyBatch(tx, events, ctx) {
    const occasions: RunTrigger[] = [];
    for (const { id: eventId, type, data, hops } of events) {
      if (type === 'automation.requested') occasions.push({ kind: 'request', request: data, hops });
      else if (type === 'integration.action_settled') {
        const { source, ok, error } = data;
        if (source.kind !== 'automation') continue;
        const outcome = ok
          ? ({ status: 'success' } as const)
          : ({ status: 'error', error: error ?? message('connect.provider_refused') } as const);
        await settleNode(tx, source.run_id ?? '', source.node_id ?? '', outcome);
      } else if (type === 'inbox.reply_classified') {
        const triggered = readCorrection(data);
        if (triggered.length > 0) occasions.push({ kind: 'trigger', eventId, triggered, replyId: data.email_id, hops });
      } else {
        const triggered = readTriggers({ type, data });
        if (triggered.length > 0) occasions.push({ kind: 'trigger', eventId, triggered, hops });
      }
    }
    if (occasions.length > 0) await startAutomationRuns(tx, ctx, occasions);
  },
});
