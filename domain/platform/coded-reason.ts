import type { Message } from '../../messages/index.ts';
import { render } from '../../messages/render.ts';

/** Fields with the code and values of a reason. Null if there is no reason. */
type CodedReason<Reason extends Message | null> = {
  reason_code: string | (Reason & null);
  reason_values: Message['values'] | (Reason & null);
};

/** Returns the English text of a reason for an event's payload, with its code and values. */
export function announcedReason(reason: Message): { reason: string } & CodedReason<Message> {
  return { reason: render(reason), ...codedReason(reason) };
}

/** Returns the code and values of a reason for an event's payload, next to its English text. */
export function codedReason<Reason extends Message | null>(reason: Reason): CodedReason<Reason> {
  const fields = { reason_code: reason?.code ?? null, reason_values: reason?.values ?? null };
  return fields as CodedReason<Reason>;
}
