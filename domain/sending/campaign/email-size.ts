import type { OrgScope } from '../../../db/tenancy.ts';
import { toFinding, type Finding } from '../../../lib/finding.ts';
import { message } from '../../../messages/index.ts';
import { IS_SENDER, POOL_TABLES, poolBindings, type PoolChoice } from './sender-pool.ts';
import type { Written, WrittenStep } from './written.ts';

/** Size (bytes) up to which every server accepts an email (RFC 5321, section 4.5.3.1.7). */
const ALWAYS_TAKEN_BYTES = 64 * 1024;

/**
 * Returns an error for each email that the server of a campaign's sender would refuse for its size. The limit is the
 * SIZE that the server announced when its mailbox was tested. Runs no query if all emails are small.
 */
export async function sizeProblems(
  org: OrgScope,
  campaign: PoolChoice,
  { steps }: Written,
): Promise<(Finding & { stepId: string })[]> {
  const large = steps
    .filter(({ kind }) => kind === 'email')
    .map((step) => ({ id: step.id, bytes: leastBytes(step) }))
    .filter(({ bytes }) => bytes > ALWAYS_TAKEN_BYTES);
  if (large.length === 0) return [];
  const [smallest] = await org.sql<{ email: string; bytes: number }>(
    `select m.email, m.smtp_max_bytes as bytes from ${POOL_TABLES}
     where m.organization_id = :org and m.status = 'active' and m.smtp_max_bytes is not null and ${IS_SENDER}
     order by m.smtp_max_bytes, m.id limit 1`,
    poolBindings(campaign),
  );
  if (!smallest) return [];
  return large
    .filter(({ bytes }) => bytes > smallest.bytes)
    .map(({ id, bytes }) => ({
      ...toFinding(
        'error',
        message('finding.email_too_large', {
          size: toMegabytes(bytes),
          limit: toMegabytes(smallest.bytes),
          mailbox: smallest.email,
        }),
      ),
      stepId: id,
    }));
}

/** Returns the minimum size (bytes) of a step's email: its texts, plus its files in base64 with line ends. */
function leastBytes({ body_plain: plain, body_html: html, files_bytes: files }: WrittenStep): number {
  const encoded = Math.ceil(files / 3) * 4;
  return Buffer.byteLength(plain) + Buffer.byteLength(html) + encoded + Math.ceil(encoded / 76) * 2;
}

function toMegabytes(bytes: number): number {
  return Number((bytes / 1024 / 1024).toFixed(1));
}
