/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface LabelsRow {
  id: string;
  organization_id: string;
  registry: 'folder' | 'tag' | 'category';
  title: string;
  /** `#rrggbb` */
  color: string;
  /** 0-based, without gaps within its registry. */
  position: number;
  created_at: Date;
  updated_at: Date;
}

export interface LabelsInsert {
  id: string;
  organization_id: string;
  registry: 'folder' | 'tag' | 'category';
  title: string;
  color: string;
  position: number;
  created_at: Date;
  updated_at: Date;
}
