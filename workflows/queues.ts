/**
 * The outside service that a piece of work waits for, if it may be slow. Each has a task queue with slots of its own, so that work
 * that hangs on one resource takes no slot from work on another. Workflows themselves and short decisions are on the
 * installation's own queue, whose name has no suffix.
 */
export const RESOURCES = ['mail', 'apps', 'webhooks', 'integrations', 'batch', 'interactive'] as const;

/**
 * `mail`: SMTP. `apps`: calls to customers' apps and other outbound HTTP. `webhooks`: receivers that are slow, and retries.
 * `integrations`: providers of integrations.
 * `batch`: launchers, imports, replays, exports, maintenance. `interactive`: a person waits for the answer.
 */
export type Resource = (typeof RESOURCES)[number];

/** A queue that a worker process can serve: that of the workflows, or that of one resource. */
export type Queue = 'workflows' | Resource;

/** The task queue of a resource, from the name of the installation's own queue. */
export function resourceQueue(taskQueue: string, resource: Resource): string {
  return `${taskQueue}-${resource}`;
}
