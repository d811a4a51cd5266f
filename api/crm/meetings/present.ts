import type { z } from 'zod';
import type { MeetingView } from '../../../domain/crm/meetings/read.ts';
import { may } from '../../../domain/platform/kernel/actor.ts';
import type { Ctx } from '../../../domain/platform/kernel/context.ts';
import { iso } from '../../http/schemas.ts';
import type { booking } from './schemas.ts';

/** Returns a meeting. Its contact is omitted for callers who may not read contacts. */
export function presentBooking(row: MeetingView, { actor }: Pick<Ctx, 'actor'>): z.input<typeof booking> {
  const { connection_id: _connection, replaced_ids: _replaced, news_at: _news, ...rest } = row;
  const mayRead = may(actor, ['READ_CONTACTS'], ['view_contacts']);
  return {
    ...rest,
    ...(mayRead ? {} : { invitee_email: '', invitee_name: '', contact_name: '' }),
    scheduled_for: iso(row.scheduled_for),
    end_time: iso(row.end_time),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}
