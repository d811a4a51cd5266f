import { orgEntity, OrgModel } from './model.ts';

export type ImportStatus = 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';

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

/** One CSV import, its progress and result. */
export class ContactImportRow extends OrgModel {
  static override tableName = 'contact_imports';
  static override jsonAttributes = ['options'];

  user_id!: string | null;
  status!: ImportStatus;
  filename!: string;
  options!: ImportOptions;
  blob_id!: string | null;
  total_bytes!: number;
  read_bytes!: number;
  /** Rows read so far; `imported + updated + skipped + failed`. */
  total!: number;
  imported!: number;
  updated!: number;
  skipped!: number;
  failed!: number;
  /** Rows applied, whatever became of them; a restarted job goes on behind them. */
  checkpoint!: number;
  error!: string | null;
  started_at!: Date | null;
  ended_at!: Date | null;
}

export const ContactImports = orgEntity(ContactImportRow);
