import type { BodyOf } from '../../../client/src/index.ts';

/** Kinds of data that the dashboard reads from the API. Every query key begins with one of these names. */
type Data =
  | 'applications'
  | 'approvals'
  | 'automations'
  | 'campaigns'
  | 'catalogue'
  | 'checklist'
  | 'choices'
  | 'contacts'
  | 'deals'
  | 'email-body'
  | 'events'
  | 'flow'
  | 'folders'
  | 'goals'
  | 'import-preview'
  | 'imports'
  | 'inbox'
  | 'integrations'
  | 'keys'
  | 'mailboxes'
  | 'meetings'
  | 'operator'
  | 'orders'
  | 'people'
  | 'person'
  | 'policies'
  | 'preview'
  | 'reports'
  | 'runs'
  | 'segments'
  | 'settings'
  | 'suppressions'
  | 'tags'
  | 'tasks'
  | 'team'
  | 'templates';

/** Key of a query. */
export type Key = readonly [Data, ...unknown[]];

declare module '@tanstack/react-query' {
  interface Register {
    queryKey: Key;
  }
}

type EventType = NonNullable<BodyOf<'/v1/webhooks', 'post'>['event_types']>[number];
type Subject = EventType extends `${infer Subject}.${string}` ? Subject : never;

/** Kinds of data that an event makes stale, by the subject of the event's type. */
export const STALE: Readonly<Record<Subject, readonly Data[]>> = {
  agent_policy: ['policies'],
  approval: ['approvals', 'runs'],
  automation: ['automations'],
  bulk_operation: ['imports', 'contacts', 'checklist'],
  campaign: ['campaigns', 'checklist'],
  contact: ['campaigns', 'contacts', 'checklist'],
  crm: ['deals', 'tasks', 'contacts'],
  custom: ['events'],
  deliverability: ['campaigns', 'suppressions'],
  domain_renewal: ['orders'],
  email_account: ['mailboxes', 'checklist'],
  form: [],
  inbox: ['inbox', 'checklist'],
  mailbox_order: ['orders'],
  meeting: ['meetings', 'contacts'],
  payment: ['orders'],
  role: ['team', 'person'],
  run: ['runs'],
  settings: ['settings', 'person'],
  team: ['team', 'person'],
  warmup: ['mailboxes'],
};
