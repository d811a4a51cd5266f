import { FAMILIES } from '../activities/index.ts';
import type { Served } from '../activities/family.ts';
import { createDeliveryEngine } from '../domain/connect/delivery/engine.ts';
import type { Deps } from '../domain/platform/kernel/context.ts';
import type { Metrics } from '../lib/metrics.ts';
import { createSmtpSender } from '../lib/smtp/index.ts';
import { TargetLimits } from '../lib/target-limits.ts';
import { RESOURCES, type Queue } from '../workflows/queues.ts';

/** Activities that a process serves, by queue. */
interface ServedActivities {
  activities: Record<Queue, Served>;
  /** Ends the activities that only wait for more work. Called when the process stops. */
  drain(): void;
  /** Closes the connections that activities have kept open. */
  close(): Promise<void>;
}

/**
 * Creates the activities of all families on the queues that each family names. All queues of a process share one SMTP
 * sender and one delivery engine.
 * @throws Error when two families serve activities with the same name on one queue
 */
export async function createActivities(deps: Deps, metrics: Metrics): Promise<ServedActivities> {
  const { config } = deps;
  const mailLimits = { total: config.WORKER_MAIL_SLOTS, perTarget: config.SMTP_HOST_SESSIONS, shared: true };
  const smtp = createSmtpSender({
    allowPrivate: config.ALLOW_PRIVATE_MAIL_HOSTS,
    limits: new TargetLimits(mailLimits),
    maxHostSessions: config.SMTP_HOST_SESSIONS,
  });
  const engine = await createDeliveryEngine(deps, metrics);
  const appCalls = new TargetLimits({ total: config.WORKER_APPS_SLOTS, perTarget: config.APP_CONNECTION_CONCURRENCY });
  const slots = config.WORKER_INTEGRATIONS_SLOTS;
  const providers = new TargetLimits({ total: slots, perTarget: slots, shared: true });
  const parts = { deps, metrics, smtp, engine, appCalls, copies: new TargetLimits(mailLimits), providers };

  const activities = Object.fromEntries(
    ['workflows', ...RESOURCES].map((queue): [string, Served] => [queue, {}]),
  ) as Record<Queue, Served>;
  for (const [queue, name, activity] of FAMILIES.flatMap((family) => family.serve(parts))) {
    if (name in activities[queue]) throw new Error(`Two families serve ${name} on the queue ${queue}.`);
    activities[queue][name] = activity;
  }
  return {
    activities,
    drain: () => engine.drain(),
    async close() {
      await engine.close();
      await smtp.close();
    },
  };
}
