import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** A person of a workspace. */
export type ContactRow = Row<'contacts'>;

export const Contacts = orgEntity('contacts', ['custom_fields']);
