import { orgEntity, OrgModel } from './model.ts';

/** An address asked to join an organization. Open until accepted, cancelled or expired. */
export class InvitationRow extends OrgModel {
  static override tableName = 'invitations';
  static override jsonAttributes: string[] = [];

  /** Lower-case. */
  email!: string;
  role_id!: string;
  /** SHA-256 of the token in the mailed link. */
  token_hash!: string;
  invited_by!: string | null;
  expires_at!: Date;
  accepted_at!: Date | null;
  cancelled_at!: Date | null;
}

export const Invitations = orgEntity(InvitationRow);
