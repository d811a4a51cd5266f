import type { EventData } from '../../platform/kernel/event-payloads.ts';
import type { StoredEventType } from '../../platform/kernel/events.ts';
import { TRIGGER_NAMES, triggerOf, type TriggerName } from './vocabulary.ts';

/** A trigger derived from an event, for automations and integrations. */
export interface Triggered {
  trigger: TriggerName;
  /** Id of the contact; null if the event has no known contact. */
  contactId: string | null;
  /** Fields of the trigger, which docs/reference/triggers.md lists. */
  data: Record<string, unknown>;
}

const BY_EVENT = new Map<StoredEventType, TriggerName[]>();
for (const name of TRIGGER_NAMES) {
  const { event } = triggerOf(name);
  BY_EVENT.set(event, [...(BY_EVENT.get(event) ?? []), name]);
}

/** Types of stored domain events that have triggers. A subscriber of triggers must receive these types. */
export const TRIGGER_EVENTS = [...BY_EVENT.keys()] as [StoredEventType, ...StoredEventType[]];

/**
 * Returns the triggers of a stored event, in the order of the vocabulary. Returns none for an event type without
 * triggers, and for a bulk event, which contains no ids of rows. One event may have several triggers: a won deal is
 * also an updated deal.
 */
export function readTriggers(event: { type: StoredEventType; data: object }): Triggered[] {
  const names = BY_EVENT.get(event.type) ?? [];
  if (names.length === 0 || 'metadata' in event.data) return [];
  const data = event.data as Record<string, unknown>;
  const contactId = typeof data.contact_id === 'string' ? data.contact_id : null;
  return names
    .filter((name) => triggerOf(name).when?.(event.data as never) ?? true)
    .map((trigger) => ({ trigger, contactId, data }));
}

/**
 * Returns the trigger of a reply whose intent a person has corrected; none for a first classification and for automatic
 * mail.
 */
export function readCorrection(event: EventData<'inbox.reply_classified'>): Triggered[] {
  const { kind, opt_out_force: _force, asks_to_stop: _asks, corrected, previous_intent: _before, ...data } = event;
  if (!corrected || kind === 'out_of_office' || kind === 'automated' || event.task_id === null) return [];
  return [{ trigger: 'email.replied', contactId: event.contact_id, data }];
}
