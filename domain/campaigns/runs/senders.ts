import type { Columns } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import type { Problem } from '../../../lib/errors.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import { senderProblems, labelProblems } from '../checks.ts';
import { HOLDS_END } from '../../sending/campaign/sender-pool.ts';
import type { RunSenders } from './input.ts';
import { message } from '../../../messages/index.ts';

/** Mailboxes that match the sender selection of a run. */
interface ChosenSenders {
  mailboxIds: string[];
  problems: Problem[];
  /** True if the selection is well-formed and none of its mailboxes may send. */
  empty: boolean;
}

const PATH = 'body.senders';

/**
 * Resolves the selection of senders to mailbox ids. `auto` and `tags` choose active mailboxes that the caller's key may
 * use, without a hold that only a person can end. `explicit` uses the named mailboxes.
 * @throws AppError forbidden when the caller's key may not use a named mailbox
 */
export async function chooseSenders(org: OrgScope, actor: Actor, senders: RunSenders): Promise<ChosenSenders> {
  const problems = modeProblems(senders);
  const { mode, mailbox_ids: mailboxIds = [], tag_ids: tagIds = [] } = senders;
  const inputs = mailboxIds.map((id) => ({ email_account_id: id, weight: 1, enabled: true }));
  problems.push(
    ...(await senderProblems(org, actor, inputs, `${PATH}.mailbox_ids`)).map((problem) => ({
      ...problem,
      path: problem.path.replace(/\.email_account_id$/, ''),
    })),
    ...(await labelProblems(org, 'tag', tagIds, `${PATH}.tag_ids`)),
  );
  if (problems.length > 0) return { mailboxIds: [], problems, empty: false };
  const chosen = await sendable(org, { mode, mailboxIds, tagIds, allowed: actor.allowedMailboxes });
  if (mode !== 'explicit') return { mailboxIds: chosen, problems, empty: chosen.length === 0 };
  return { mailboxIds: mailboxIds.map((id) => id.toLowerCase()).sort(), problems, empty: chosen.length === 0 };
}

/** Checks that only the list of the given mode is present and that it is not empty; `auto` has no list. */
function modeProblems({ mode, mailbox_ids: mailboxIds, tag_ids: tagIds }: RunSenders): Problem[] {
  const lists = [
    { field: 'mailbox_ids', owner: 'explicit', ids: mailboxIds },
    { field: 'tag_ids', owner: 'tags', ids: tagIds },
  ] as const;
  return lists.flatMap(({ field, owner, ids }) => {
    const path = `${PATH}.${field}`;
    if (mode === owner)
      return ids && ids.length > 0 ? [] : [{ path, message: message('runs.required_with_mode', { mode: owner }) }];
    return ids && ids.length > 0 ? [{ path, message: message('runs.only_with_mode', { mode: owner }) }] : [];
  });
}

async function sendable(
  org: OrgScope,
  chosen: { mode: string; mailboxIds: readonly string[]; tagIds: readonly string[]; allowed: readonly string[] | null },
): Promise<string[]> {
  const rows = await org.sql<Columns<'mailboxes', 'id'>>(
    `select m.id from mailboxes m
     where m.organization_id = :org and m.status = 'active' and ${HOLDS_END}
       and (cast(:allowed as uuid[]) is null or m.id = any(cast(:allowed as uuid[])))
       and (:mode <> 'explicit' or m.id = any(cast(:mailboxes as uuid[])))
       and (:mode <> 'tags' or exists (select 1 from mailbox_tags t where t.mailbox_id = m.id and t.label_id = any(cast(:tags as uuid[]))))
     order by m.id`,
    { mode: chosen.mode, mailboxes: chosen.mailboxIds, tags: chosen.tagIds, allowed: chosen.allowed },
  );
  return rows.map(({ id }) => id);
}
