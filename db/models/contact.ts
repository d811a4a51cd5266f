import { orgEntity, OrgModel } from './model.ts';

/** A person of a workspace (contract: supplement "Contact"). `email` is lower-case. */
export class ContactRow extends OrgModel {
  static override tableName = 'contacts';
  static override jsonAttributes = ['custom_fields'];

  email!: string;
  first_name!: string;
  last_name!: string;
  company!: string;
  phone!: string;
  custom_fields!: Record<string, string>;
  subscribed!: boolean;
  source!: string;
  source_detail!: string;
  verification_status!: 'valid' | 'risky' | 'invalid' | 'unknown';
  verification_reason!: string;
  is_catch_all!: boolean;
  verification_checked_at!: Date | null;
  esp_provider!: string;
  esp_resolved_at!: Date | null;
}

export const Contacts = orgEntity(ContactRow);
