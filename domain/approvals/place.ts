import { across } from '../../db/across.ts';
import { isUuid } from '../../lib/ids.ts';
import type { Ctx } from '../platform/kernel/context.ts';

/** The workspace of an approval, if the signed-in person is a member of it: a mailed link names no workspace. Null otherwise. */
export async function approvalPlace(ctx: Ctx, id: string): Promise<{ id: string; name: string } | null> {
  if (!isUuid(id)) return null;
  const [place] = await across(ctx.db, 'person').sql<{ id: string; name: string }>(
    `select o.id, o.name from approvals a join organizations o on o.id = a.organization_id
     join memberships m on m.organization_id = a.organization_id and m.user_id = :person where a.id = :id`,
    { id, person: ctx.actor.userId },
  );
  return place ?? null;
}
