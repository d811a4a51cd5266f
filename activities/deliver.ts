import { deliverSend } from '../domain/sending/deliver.ts';
import { deliverToLead } from '../domain/sending/enrollment/deliver.ts';
import type { EnrollmentActivities } from '../workflows/enrollment/contract.ts';
import { callVerb } from './call-verb.ts';
import type { ActivityParts } from './family.ts';
import { retryLater } from './retry-later.ts';

/** Minimum delay (ms) before the next check of an email that an earlier attempt may still be sending. */
const RECHECK_MS = 1_000;

/**
 * Creates the activity that sends one email of a campaign, a direct send or a test run. For an email of a campaign it
 * also decides the next step of its lead.
 */
export function createDeliverSend({ deps, smtp, metrics, copies }: ActivityParts): EnrollmentActivities['deliverSend'] {
  return async (args) => {
    const delivery = await callVerb(deps, args, (ctx) => {
      const { sendId, lead } = args;
      return lead ? deliverToLead(ctx, { smtp, copies }, sendId, lead) : deliverSend(ctx, { smtp, copies }, sendId);
    });
    if ('retryInMs' in delivery) {
      metrics.targetBusy.inc({ resource: 'mail' });
      throw retryLater(
        'mail_host_busy',
        'the mail host has as many conversations under way as it may',
        delivery.retryInMs,
      );
    }
    if ('retryAt' in delivery) {
      const delayMs = Math.max(RECHECK_MS, delivery.retryAt - deps.clock.now().getTime());
      throw retryLater('send_in_hand', 'another attempt may still be under way', delayMs);
    }
    metrics.sends.inc({ result: delivery.outcome });
    return delivery;
  };
}
