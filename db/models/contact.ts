import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** A person whom a workspace can write to. */
export type ContactRow = Row<'contacts'>;

export const Contacts = orgEntity('contacts', ['custom_fields']);
