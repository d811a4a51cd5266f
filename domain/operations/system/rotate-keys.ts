import { across } from '../../../db/across.ts';
import { SEAL_PLACES } from '../../../lib/seal-places.ts';
import type { Deps } from '../../platform/kernel/context.ts';

/** Number of rows per statement. */
const BATCH = 200;

interface SealedColumn {
  table: string;
  column: string;
  /** Columns that identify a row. */
  key: readonly string[];
  place: (row: Record<string, string>) => string;
}

/** All columns that contain encrypted values. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: 'mailboxes', column: 'credentials', key: ['id'], place: ({ id }) => SEAL_PLACES.mailbox(id!) },
  {
    table: 'mailbox_tokens',
    column: 'sealed',
    key: ['mailbox_id'],
    place: (row) => SEAL_PLACES.mailboxToken(row.mailbox_id!),
  },
  {
    table: 'mailbox_revocations',
    column: 'sealed',
    key: ['mailbox_id'],
    place: (row) => SEAL_PLACES.mailboxToken(row.mailbox_id!),
  },
  { table: 'mailbox_consents', column: 'sealed', key: ['id'], place: ({ id }) => SEAL_PLACES.mailboxConsent(id!) },
  { table: 'mailbox_checks', column: 'request', key: ['id'], place: ({ id }) => SEAL_PLACES.mailboxCheck(id!) },
  {
    table: 'order_mailboxes',
    column: 'credentials',
    key: ['order_id', 'position'],
    place: (row) => SEAL_PLACES.orderMailbox(row.order_id!, row.position!),
  },
  { table: 'app_connections', column: 'secret', key: ['id'], place: ({ id }) => SEAL_PLACES.appConnection(id!) },
  {
    table: 'integration_connections',
    column: 'sealed',
    key: ['id'],
    place: ({ id }) => SEAL_PLACES.integration(id!),
  },
  {
    table: 'integration_connections',
    column: 'signing_secret',
    key: ['id'],
    place: ({ id }) => SEAL_PLACES.integrationSigning(id!),
  },
  {
    table: 'integration_revocations',
    column: 'sealed',
    key: ['connection_id'],
    place: (row) => SEAL_PLACES.integration(row.connection_id!),
  },
  {
    table: 'integration_oauth_states',
    column: 'sealed',
    key: ['id'],
    place: ({ id }) => SEAL_PLACES.integrationState(id!),
  },
  { table: 'webhook_secrets', column: 'sealed', key: ['id'], place: ({ id }) => SEAL_PLACES.webhookSecret(id!) },
  {
    table: 'idempotency_keys',
    column: 'body',
    key: ['organization_id', 'actor_id', 'operation', 'key'],
    place: (row) => SEAL_PLACES.answer(row.organization_id!, row.actor_id!, row.operation!, row.key!),
  },
];

/** Number of values in one column that were not encrypted with the current key, by result. */
interface RotatedColumn {
  column: string;
  resealed: number;
  /**
   * Number of values that cannot be decrypted, because they are damaged or their key is missing from
   * CREDENTIALS_PREVIOUS_KEYS.
   */
  unreadable: number;
}

/**
 * Encrypts all values again that are not encrypted with the current key. The installation may run meanwhile if all its
 * processes have the new and the previous key: they encrypt concurrent changes with the new one. Can be repeated.
 * @param options.dryRun only counts; `resealed` is then the number of values to encrypt
 */
export async function rotateKeys(
  deps: Pick<Deps, 'db' | 'keyring'>,
  options: { dryRun?: boolean } = {},
): Promise<RotatedColumn[]> {
  const done: RotatedColumn[] = [];
  for (const column of SEALED_COLUMNS) done.push(await rotateColumn(deps, column, options.dryRun ?? false));
  return done;
}

async function rotateColumn(
  { db, keyring }: Pick<Deps, 'db' | 'keyring'>,
  { table, column, key, place }: SealedColumn,
  dryRun: boolean,
): Promise<RotatedColumn> {
  const names = key.join(', ');
  const report: RotatedColumn = { column: `${table}.${column}`, resealed: 0, unreadable: 0 };
  let after: string[] | undefined;
  for (;;) {
    const rows = await across(db, 'operator').sql<Record<string, string> & { sealed: Buffer }>(
      `select ${key.map((name) => `${name}::text as ${name}`).join(', ')}, ${column} as sealed from ${table}
       where ${column} is not null and substring(${column} from 1 for ${keyring.currentPrefix.length}) <> :prefix
         ${after ? `and (${names}) > (${key.map((_, index) => `:after${index}`).join(', ')})` : ''}
       order by ${names} limit ${BATCH}`,
      {
        prefix: keyring.currentPrefix,
        ...Object.fromEntries((after ?? []).map((part, index) => [`after${index}`, part])),
      },
    );
    for (const row of rows) {
      const resealed = reseal(keyring, row.sealed, place(row));
      if (!resealed) {
        report.unreadable += 1;
        continue;
      }
      report.resealed += 1;
      if (dryRun) continue;
      // Updates only a value that is unchanged since it was read.
      await across(db, 'operator').run(
        `update ${table} set ${column} = :resealed where (${names}) = (${key.map((_, index) => `:key${index}`).join(', ')}) and ${column} = :sealed`,
        {
          resealed,
          sealed: row.sealed,
          ...Object.fromEntries(key.map((name, index) => [`key${index}`, row[name]!])),
        },
      );
    }
    if (rows.length < BATCH) return report;
    const last = rows.at(-1)!;
    after = key.map((name) => last[name]!);
  }
}

function reseal(keyring: Deps['keyring'], sealed: Buffer, place: string): Buffer | undefined {
  try {
    return keyring.seal(keyring.open(sealed, place), place);
  } catch {
    return undefined;
  }
}
