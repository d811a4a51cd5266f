import { message, type Message } from '../../../messages/index.ts';

/** Returns the reason why a receiver's status is not a success. */
export function answerFault(status: number): Message {
  const isRedirect = status >= 300 && status < 400;
  return isRedirect ? message('connect.receiver_redirect', { status }) : message('connect.receiver_status', { status });
}
