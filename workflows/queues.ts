/**
 * Kinds of work that may wait long for something outside, such as a mail server. Each has a task queue with its own
 * worker slots, so that a slow resource uses no slots of another. Workflows and short activities are on the
 * installation's own queue, whose name has no suffix.
 */
export const RESOURCES = ['mail', 'apps', 'webhooks', 'integrations', 'batch', 'interactive'] as const;

/**
 * `mail`: SMTP. `apps`: calls to customers' apps and other outbound HTTP. `webhooks`: slow receivers, and retries.
 * `integrations`: providers of integrations. `batch`: launchers, imports, replays, exports, maintenance. `interactive`:
 * a person waits for the answer.
 */
export type Resource = (typeof RESOURCES)[number];

/** Queue that a worker process can serve: the workflows' queue or that of one resource. */
export type Queue = 'workflows' | Resource;

/** Returns the task queue of a resource, derived from the name of the installation's own queue. */
export function resourceQueue(taskQueue: string, resource: Resource): string {
  return `${taskQueue}-${resource}`;
}
