import { dataOf, executedOf, heron, queryClient, type BodyOf } from '../../app/api.ts';
import type { Key } from '../../app/query-keys.ts';
import type { Chosen } from '../../hooks/selection.ts';
import { offerUndo } from '../undo.tsx';

type Body = BodyOf<'/v1/contacts/bulk-edits', 'post'>;
export type Action = Body['action'];
/** Filters of a list of contacts. */
export type Filters = NonNullable<Body['filters']>;
type Selected = Omit<Body, 'action'>;

/** Maximum number of contact ids in one request. */
const NAMED = 1_000;
const STALE: readonly Key[] = [['contacts'], ['campaigns'], ['suppressions'], ['checklist'], ['tags']];

/** Converts chosen rows to selections of the API: one for a filter, or one per 1,000 contact ids. */
export function selectionsOf({ isAll, ids }: Chosen, filters: Filters): Selected[] {
  const named = [...ids];
  if (isAll) return [{ all: true, filters, confirm_all: true, exclude: named }];
  return Array.from({ length: Math.ceil(named.length / NAMED) }, (_, part) => ({
    contacts: named.slice(part * NAMED, (part + 1) * NAMED),
  }));
}

/** Applies an action to the chosen contacts, and offers to undo it. */
export async function editContacts(
  selected: readonly Selected[],
  action: Action,
  said: (changed: number) => string,
): Promise<void> {
  const edits: { id: string; changed: number }[] = [];
  try {
    for (const body of selected)
      edits.push(await executedOf(heron.POST('/v1/contacts/bulk-edits', { body: { ...body, action } })));
  } finally {
    const changed = edits.reduce((sum, edit) => sum + edit.changed, 0);
    if (edits.length > 0)
      offerUndo(said(changed), async () => {
        for (const { id } of edits.toReversed())
          await dataOf(heron.POST('/v1/contacts/bulk-edits/{id}/undo', { params: { path: { id } } }));
        await refresh();
      });
    await refresh();
  }
}

/** Deletes the chosen contacts permanently. */
export async function deleteContacts(selected: readonly Selected[]): Promise<void> {
  for (const body of selected) await dataOf(heron.DELETE('/v1/contacts', { body }));
  await refresh();
}

async function refresh(): Promise<void> {
  await Promise.all(STALE.map((queryKey) => queryClient.invalidateQueries({ queryKey })));
}
