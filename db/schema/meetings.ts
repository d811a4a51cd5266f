/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface MeetingsRow {
  id: string;
  organization_id: string;
  source: string;
  connection_id: string | null;
  external_event_id: string;
  replaced_ids: string[];
  status: 'booked' | 'rescheduled' | 'canceled' | 'completed' | 'no_show';
  invitee_email: string;
  invitee_name: string;
  event_name: string;
  event_type: string;
  scheduled_for: Date | null;
  end_time: Date | null;
  join_url: string;
  location: string;
  cancel_url: string;
  reschedule_url: string;
  canceled_reason: string;
  contact_id: string | null;
  campaign_id: string | null;
  news_at: Date;
  created_at: Date;
  updated_at: Date;
}

export interface MeetingsInsert {
  id: string;
  organization_id: string;
  source: string;
  connection_id?: string | null;
  external_event_id: string;
  replaced_ids?: string[];
  status: 'booked' | 'rescheduled' | 'canceled' | 'completed' | 'no_show';
  invitee_email: string;
  invitee_name: string;
  event_name: string;
  event_type: string;
  scheduled_for?: Date | null;
  end_time?: Date | null;
  join_url: string;
  location: string;
  cancel_url: string;
  reschedule_url: string;
  canceled_reason: string;
  contact_id?: string | null;
  campaign_id?: string | null;
  news_at: Date;
  created_at: Date;
  updated_at: Date;
}
