import type { Message } from './address.ts';

export type Kind = NonNullable<Message['answer']>['kind'];

/** Kinds of replies in the order of their keys, 1 to 9. */
export const KINDS = [
  'positive',
  'negative',
  'not_now',
  'question',
  'referral',
  'opt_out',
  'out_of_office',
  'automated',
  'neutral',
] as const satisfies readonly Kind[];

/** Returns the message that a shortcut classifies: the one with a possible opt-out, or else the newest received one. */
export function decidedMessage(messages: readonly Message[] | undefined): Message | undefined {
  const received = (messages ?? []).filter(isCorrectable);
  return received.findLast(({ asks_to_stop: asks }) => asks) ?? received.at(-1);
}

/** Returns true if a person may correct the classification of a message. */
export function isCorrectable({ direction, kind }: Message): boolean {
  return direction === 'received' && kind !== 'bounce' && kind !== 'complaint';
}
