/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface ReplyTemplatesRow {
  id: string;
  organization_id: string;
  user_id: string | null;
  name: string;
  subject: string;
  body_html: string;
  body_plain: string;
  position: number;
  created_at: Date;
  updated_at: Date;
}

export interface ReplyTemplatesInsert {
  id: string;
  organization_id: string;
  user_id?: string | null;
  name: string;
  subject?: string;
  body_html?: string;
  body_plain?: string;
  position: number;
  created_at: Date;
  updated_at: Date;
}
