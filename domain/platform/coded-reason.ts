import type { Message } from '../../messages/index.ts';

interface CodedReason {
  reason_code: string;
  reason_values: Message['values'];
}

/** Returns the code and values of a reason for an event's payload, next to its English text. Both are null without a reason. */
export function codedReason(reason: Message): CodedReason;
export function codedReason(reason: Message | null): { [Name in keyof CodedReason]: CodedReason[Name] | null };
export function codedReason(reason: Message | null) {
  return { reason_code: reason?.code ?? null, reason_values: reason?.values ?? null };
}
