import { z } from 'zod';
import { message } from '../../../../messages/index.ts';
import { Refused } from './provider.ts';

/** An optional text of a booking. A value that is not a string is treated as missing. */
export const bookingText = z.string().nullish().catch(undefined);

/**
 * Builds the refusal of a booking webhook. The problem names the unreadable fields. Their values are not logged or
 * returned.
 */
export function unreadableBooking(provider: string, faults: z.ZodError | readonly string[]): Refused {
  const fields = faults instanceof z.ZodError ? faults.issues.map(({ path }) => path.join('.')) : faults;
  return new Refused(message('connect.booking_unreadable', { provider, fields: [...new Set(fields)] }));
}
