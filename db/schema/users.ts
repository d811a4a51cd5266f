/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface UsersRow {
  id: string;
  email: string;
  password_hash: string;
  first_name: string;
  last_name: string;
  is_platform_admin: boolean;
  created_at: Date;
  updated_at: Date;
  has_given_password: boolean;
}

export interface UsersInsert {
  id: string;
  email: string;
  password_hash: string;
  first_name?: string;
  last_name?: string;
  is_platform_admin?: boolean;
  created_at: Date;
  updated_at: Date;
  has_given_password?: boolean;
}
