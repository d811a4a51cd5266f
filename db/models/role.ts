import { orgEntity, OrgModel } from './model.ts';

/** A named set of permissions of an organization. System roles never change. */
export class RoleRow extends OrgModel {
  static override tableName = 'roles';
  static override jsonAttributes: string[] = [];

  name!: string;
  /** Names of lib/permissions.ts ORG_PERMISSIONS. */
  permissions!: string[];
  is_owner!: boolean;
  is_system!: boolean;
}

export const Roles = orgEntity(RoleRow);
