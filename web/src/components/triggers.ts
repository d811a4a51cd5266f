const BY_FAMILY: Readonly<Record<string, readonly string[]>> = {
  email: ['sent', 'delivered', 'opened', 'clicked', 'replied', 'bounced', 'complained', 'unsubscribed', 'received'],
  contact: ['created', 'updated', 'deleted'],
  form: ['submitted'],
  import: ['completed'],
  campaign: ['started', 'paused', 'completed', 'deliverability_warning', 'notified'],
  deal: ['created', 'updated', 'stage_changed', 'won', 'lost', 'deleted'],
  task: ['created', 'updated', 'completed'],
  meeting: ['booked', 'rescheduled', 'canceled'],
  event: ['received'],
  mailbox: ['connected', 'disconnected', 'error', 'health_changed'],
  approval: ['requested'],
};

/** Triggers of automations and event subscriptions, such as email.sent, in the order of docs/reference/triggers.md. */
export const TRIGGERS: readonly string[] = Object.entries(BY_FAMILY).flatMap(([family, names]) =>
  names.map((name) => `${family}.${name}`),
);
