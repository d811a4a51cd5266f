/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface OrganizationsRow {
  id: string;
  name: string;
  plan: 'free' | 'paid';
  created_by: string | null;
  created_at: Date;
  updated_at: Date;
  weekly_report: boolean;
  timezone: string;
}

export interface OrganizationsInsert {
  id: string;
  name: string;
  plan?: 'free' | 'paid';
  created_by?: string | null;
  created_at: Date;
  updated_at: Date;
  weekly_report?: boolean;
  timezone?: string;
}
