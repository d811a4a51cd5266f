import type { Readable } from 'node:stream';
import { PERSON_ROWS } from '../../directory/person-rows.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { assertContact } from '../../crm/activities.ts';
import { fileRowsSql, toFileObject, type FileRow } from '../../sending/control/file-rows.ts';
import { streamSnapshot } from './stream.ts';

/** Number of rows read per database round trip. It is small, because a row may contain a long text. */
const BATCH = 100;

/** SQL that returns all rows of {@link PERSON_ROWS}, part after part. A cursor reads them in this order. */
const DATA = PERSON_ROWS.map(fileRowsSql).join(' union all ') as `${string}:org${string}`;

/**
 * Streams everything that the workspace holds about a contact as one JSON object, with a list of rows for each part.
 * The audit log records who exported the data.
 * @throws AppError not_found; rate_limit_exceeded while too many exports run in this process
 */
export async function readContactData(ctx: Ctx, id: string): Promise<Readable> {
  const { text } = await streamSnapshot(ctx, {
    async begin(org) {
      await assertContact(org, id);
      await transact(ctx, async (tx) => tx.audit({ action: 'export', entityType: 'contact', entityId: id }));
    },
    async write(org, put) {
      const parts = PERSON_ROWS.map(({ part }) => part);
      let at = -1;
      await put(`{"generated_at":${JSON.stringify(ctx.clock.now())}`);
      const openPart = (next: number) => {
        let text = '';
        for (; at < next; at += 1) text += `${at < 0 ? '' : '\n]'},\n"${parts[at + 1]}":[`;
        return text;
      };
      for await (const batch of org.inBatches<FileRow>(DATA, { contacts: [id] }, BATCH)) {
        let text = '';
        for (const row of batch) {
          const isFirst = row.part !== parts[at];
          if (isFirst) text += openPart(parts.indexOf(row.part));
          text += `${isFirst ? '\n' : ',\n'}${JSON.stringify(toFileObject(row))}`;
        }
        await put(text);
      }
      await put(`${openPart(parts.length - 1)}\n]}\n`);
    },
  });
  return text;
}
