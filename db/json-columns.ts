/** Types of jsonb columns, for the row types of db/schema/ (see db/columns.ts). */

/** An object whose keys only its writer knows. */
export type JsonObject = Record<string, unknown>;

/** A mail service as stored: everything but the password. */
export interface StoredMailService {
  host: string;
  port: number;
  username: string;
  security: 'tls' | 'starttls' | 'none';
}

/** What a column of the file becomes; `custom:<key>` is a custom field. */
export interface ColumnMapping {
  index: number;
  target: string;
}

/** How a file is read and applied. */
export interface ImportOptions {
  encoding: string;
  delimiter: string;
  has_header: boolean;
  /** The header, or made-up names; the head of problems.csv. */
  columns: string[];
  mapping: ColumnMapping[];
  /** Categories every imported contact is filed under. */
  categories: string[];
  campaign_id: string | null;
  update_existing: boolean;
}

/** One condition of a saved audience; `field` and `operator` come from GET /segments/fields. */
export interface SegmentCondition {
  field: string;
  operator: string;
  values: string[];
}

/** A span of a campaign's day, in minutes after midnight. */
export interface ScheduleWindow {
  start: number;
  end: number;
}

/** The emails of a conversation so far; the next one replies in it. */
export interface StoredConversation {
  subject: string;
  /** RFC Message-IDs, oldest first. */
  messageIds: string[];
}
