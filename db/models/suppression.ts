import { orgEntity, OrgModel } from './model.ts';

export type SuppressionSource = 'bounce' | 'complaint' | 'unsubscribe' | 'manual' | 'import';

/** An address or a whole host that must not be mailed (contract 2, "Suppression entry"). `email` is lower-case. */
export class SuppressionRow extends OrgModel {
  static override tableName = 'suppressions';
  static override jsonAttributes = ['metadata'];

  /** The bare host when `kind` is domain. */
  email!: string;
  kind!: 'email' | 'domain';
  reason!: string;
  source!: SuppressionSource;
  campaign_id!: string | null;
  metadata!: Record<string, unknown>;
  expires_at!: Date | null;
}

export const Suppressions = orgEntity(SuppressionRow);
