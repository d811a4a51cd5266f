/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface ContactOutreachRow {
  contact_id: string;
  organization_id: string;
  company_domain: string;
  job_title: string;
  seniority: string;
  department: string;
  esp_provider: string;
  verification_status: string;
  subscribed: boolean;
  campaigns: number;
  emails_received: number;
  last_contacted_at: Date | null;
  last_replied_at: Date | null;
  positive_at: Date | null;
  meeting_at: Date | null;
  bounced_at: Date | null;
  outreach_status: string;
}

export interface ContactOutreachInsert {
  contact_id: string;
  organization_id: string;
  company_domain: string;
  job_title: string;
  seniority: string;
  department: string;
  esp_provider: string;
  verification_status: string;
  subscribed: boolean;
  campaigns?: number;
  emails_received?: number;
  last_contacted_at?: Date | null;
  last_replied_at?: Date | null;
  positive_at?: Date | null;
  meeting_at?: Date | null;
  bounced_at?: Date | null;
}
