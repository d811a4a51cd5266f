import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

export type { ColumnMapping } from '../json-columns.ts';

/** One CSV import, with its progress and result. */
export type ContactImportRow = Row<'contact_imports'>;

export const ContactImports = orgEntity('contact_imports', ['options']);
