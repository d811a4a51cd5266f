import { orgEntity, OrgModel } from './model.ts';

export type LabelRegistry = 'folder' | 'tag' | 'category';

/** A folder (campaigns), tag (mailboxes) or category (contacts, conversations). */
export class LabelRow extends OrgModel {
  static override tableName = 'labels';

  registry!: LabelRegistry;
  title!: string;
  /** `#rrggbb` */
  color!: string;
  /** 0-based, without gaps within its registry. */
  position!: number;
}

export const Labels = orgEntity(LabelRow);
