import { across } from '../../db/across.ts';
import { isUuid } from '../../lib/ids.ts';
import type { Ctx } from '../platform/kernel/context.ts';

export interface ApprovalPlace {
  id: string;
  name: string;
  person_email: string;
}

/**
 * Returns the workspace of an approval, and the address of the signed-in person if they are a member of it. Returns
 * null otherwise. Needed because the link in an email does not name the workspace.
 */
export async function approvalPlace(ctx: Ctx, id: string): Promise<ApprovalPlace | null> {
  if (!isUuid(id)) return null;
  const [place] = await across(ctx.db, 'person').sql<ApprovalPlace>(
    `select o.id, o.name, u.email as person_email from approvals a join organizations o on o.id = a.organization_id
     join users u on u.id = :person
     join memberships m on m.organization_id = a.organization_id and m.user_id = :person where a.id = :id`,
    { id, person: ctx.actor.userId },
  );
  return place ?? null;
}
