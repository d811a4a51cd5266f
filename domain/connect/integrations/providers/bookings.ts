import { z } from 'zod';
import { message } from '../../../../messages/index.ts';
import { Refused } from './provider.ts';

/** A text that a booking can do without; one of another type counts as none. */
export const bookingText = z.string().nullish().catch(undefined);

/** The refusal of a webhook of bookings. It names the fields that cannot be read; their values stay out of logs and answers. */
export function unreadableBooking(provider: string, faults: z.ZodError | readonly string[]): Refused {
  const fields = faults instanceof z.ZodError ? faults.issues.map(({ path }) => path.join('.')) : faults;
  return new Refused(message('connect.booking_unreadable', { provider, fields: [...new Set(fields)] }));
}
