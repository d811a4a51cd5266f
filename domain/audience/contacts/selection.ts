import type { Columns } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { AppError, badRequest, refuseProblems } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import { compileFilters, type ContactFilters } from '../../directory/contact-filters.ts';

const MAX_IDS = 1000;
const MAX_SELECTED = 50_000;

/** Contacts of a bulk call: by id, or all that match the filters and are not excluded. */
export interface Selection {
  contacts?: readonly string[] | undefined;
  all?: boolean | undefined;
  filters?: ContactFilters | undefined;
  /** Confirms a selection of all contacts of the workspace: `all` with empty filters. */
  confirm_all?: boolean | undefined;
  exclude?: readonly string[] | undefined;
}

/**
 * Returns the ids of a selection without locking the contacts. The result may be empty.
 * @throws AppError too_many_contacts, selection_too_large
 */
export function readSelection(org: OrgScope, selection: Selection, now: Date): Promise<string[]> {
  return selectedIds(org, selection, now, '');
}

/**
 * Returns the ids of a selection, and locks the contacts in order of their ids. Unknown ids are omitted.
 * @throws AppError too_many_contacts (over 1000 ids or 50000 exclusions), selection_too_large (filters match over
 * 50000), bad_request or `ifNone` when nothing is selected
 */
export async function resolveSelection(
  org: OrgScope,
  selection: Selection,
  now: Date,
  ifNone?: 'no_contacts',
): Promise<string[]> {
  const ids = await selectedIds(org, selection, now, 'for update');
  if (ids.length === 0) refuseProblems([{ path: 'body', message: message('directory.nothing_selected') }], ifNone);
  return ids;
}

/** SQL clause that locks the selected contacts. Empty to take no lock. */
type Lock = 'for update' | '';

function selectedIds(org: OrgScope, selection: Selection, now: Date, lock: Lock): Promise<string[]> {
  return selection.all ? matching(org, selection, now, lock) : listed(org, selection.contacts ?? [], lock);
}

async function listed(org: OrgScope, asked: readonly string[], lock: Lock): Promise<string[]> {
  if (asked.length > MAX_IDS) {
    throw new AppError('too_many_contacts', message('audience.too_many_selected', { max: MAX_IDS }), {
      fix: message('audience.too_many_selected.fix'),
    });
  }
  const rows = await org.sql<Columns<'contacts', 'id'>>(
    `select id from contacts where organization_id = :org and id = any(cast(:ids as uuid[])) order by id ${lock}`,
    { ids: asked.filter(isUuid) },
  );
  return rows.map((row) => row.id);
}

async function matching(org: OrgScope, selection: Selection, now: Date, lock: Lock): Promise<string[]> {
  if (!selection.filters) {
    throw badRequest(message('audience.filters_needed'), [
      { path: 'body.filters', message: message('audience.filters_with_all') },
    ]);
  }
  if (Object.values(selection.filters).every((value) => value === undefined) && !selection.confirm_all) {
    throw badRequest(message('contacts.all_unconfirmed'), [
      { path: 'body.confirm_all', message: message('contacts.all_unconfirmed.field') },
    ]);
  }
  const exclude = (selection.exclude ?? []).filter(isUuid);
  if (exclude.length > MAX_SELECTED)
    throw new AppError('too_many_contacts', message('audience.too_many_exclusions', { max: MAX_SELECTED }), {
      fix: message('audience.too_many_exclusions.fix'),
    });
  const where = compileFilters(selection.filters, now);
  if (exclude.length > 0)
    where.add(`not exists (select 1 from unnest(${where.bind(exclude, 'uuid[]')}) as out(id) where out.id = c.id)`);
  const rows = await org.sql<Columns<'contacts', 'id'>>(
    `select c.id from contacts c where c.organization_id = :org and ${where.all()} order by c.id limit :limit ${lock}`,
    { ...where.bindings, limit: MAX_SELECTED + 1 },
  );
  if (rows.length > MAX_SELECTED) {
    throw new AppError('selection_too_large', message('audience.selection_too_large', { max: MAX_SELECTED }), {
      fix: message('audience.selection_too_large.fix'),
    });
  }
  return rows.map((row) => row.id);
}
