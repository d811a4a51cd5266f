import { json } from '../../db/connection.ts';
import type { OrgTable } from '../../db/rows.ts';
import type { Message } from '../../messages/index.ts';
import { signal } from '../../temporal/dispatch.ts';
import type { WorkflowContract } from '../../workflows/contract.ts';
import type { BlockedRuns, DeadLetterKind } from './kernel/tx.ts';
import type { Tx } from './kernel/transact.ts';

/** Table with one row per workflow of a kind, and the column that marks the row's workflow as blocked. */
export interface MarkedRow
  extends Pick<DeadLetterKind, 'taskType' | 'restricted'>, Partial<Pick<DeadLetterKind, 'retry'>> {
  table: OrgTable;
  /** Column whose value is the variable part of the workflow id. Default: `id`. */
  key?: string | undefined;
  /** SQL condition that the workflow of a row has not ended. */
  open: string;
  /** Column that marks a workflow as blocked. Default: `blocked_reason`. */
  mark?: string;
  /** True if marking also sets `updated_at`. */
  isStamped?: true;
  /** Name of the retry signal. Default: `retry`. */
  signal?: string;
  /** Writes further changes in the transaction that marks a workflow as blocked. */
  andThen?(tx: Tx, taskId: string, reason: Message): Promise<void>;
}

/**
 * Returns functions that mark a row as blocked, and that clear the mark and signal the workflow. The workflow id must
 * have one variable part.
 */
export function blockedRows(contract: WorkflowContract<any, any>, marked: MarkedRow): BlockedRuns {
  const { taskType, restricted, table, key = 'id', open, mark = 'blocked_reason', isStamped, andThen } = marked;
  const [part] = contract.parts as [string];
  const setMark = (tx: Tx, id: string, reason: Message | null, condition: string) =>
    tx.org.sql<{ open: boolean }>(
      `update ${table} set ${mark} = cast(:reason as jsonb)${isStamped ? ', updated_at = :now' : ''}
       where organization_id = :org and ${key} = :id and ${condition} returning ${open} as open` as `${string}:org${string}`,
      { id, reason: reason && json(reason), ...(isStamped ? { now: tx.now } : {}) },
    );
  return {
    taskType,
    restricted,
    async block(tx, workflowId, reason) {
      const id = (contract.partsOf(workflowId) as Record<string, string>)[part]!;
      const [row] = await setMark(tx, id, reason, open);
      if (row) await andThen?.(tx, id, reason);
      return row && id;
    },
    async retry(tx, id, cause) {
      if (marked.retry) return marked.retry(tx, id, cause);
      // Clears the mark even if the workflow has ended.
      const [row] = await setMark(tx, id, null, 'true');
      const args = { organizationId: tx.org.organizationId, [part]: id };
      if (row?.open) tx.intend(signal(contract, args, marked.signal ?? 'retry', { cause }));
    },
  };
}
