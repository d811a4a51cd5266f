import { csvHeader, csvLines } from '../../../lib/csv.ts';
import type { Ctx } from '../kernel/context.ts';
import { eachAuditPage, type AuditFilter } from './read.ts';

const COLUMNS = [
  'id',
  'time',
  'action',
  'entity_type',
  'entity_id',
  'actor_kind',
  'actor_email',
  'user_id',
  'api_key_id',
  'oauth_grant_id',
  'ip_address',
  'user_agent',
  'request_id',
  'changes',
  'metadata',
] as const;

/**
 * Yields the audit trail as CSV, newest first, in chunks. Prefixes cells that a spreadsheet would read as formulas with
 * an apostrophe.
 */
export async function* exportAuditLogs(ctx: Ctx, filter: AuditFilter): AsyncGenerator<string> {
  yield csvHeader(COLUMNS);
  for await (const page of eachAuditPage(ctx, filter))
    yield csvLines(
      page.map((row) => [
        row.id,
        row.created_at.toISOString(),
        row.action,
        row.entity_type,
        row.entity_id ?? '',
        row.actor_kind,
        row.actor?.email ?? '',
        row.user_id ?? '',
        row.api_key_id ?? '',
        row.oauth_grant_id ?? '',
        row.ip_address,
        row.user_agent,
        row.request_id ?? '',
        row.changes ? JSON.stringify(row.changes) : '',
        row.metadata ? JSON.stringify(row.metadata) : '',
      ]),
    );
}
