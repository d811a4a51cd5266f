import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** A named set of permissions of an organization. System roles never change. */
export type RoleRow = Row<'roles'>;

export const Roles = orgEntity('roles', []);
