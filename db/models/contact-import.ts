import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

export type { ColumnMapping, ImportOptions } from '../json-columns.ts';

/** One CSV import, its progress and result. */
export type ContactImportRow = Row<'contact_imports'>;
export type ImportStatus = ContactImportRow['status'];

export const ContactImports = orgEntity('contact_imports', ['options']);
