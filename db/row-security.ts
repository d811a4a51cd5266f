import type { Knex } from 'knex';
import type { Db } from './connection.ts';
import { knexOf } from './raw.ts';
import { TENANT_ROLE } from './tenant-role.ts';

/**
 * Tables with a policy that statements of an organization never use. Their rows are accessible only across
 * organizations.
 */
const NOT_GRANTED = ['oauth_codes', 'oauth_tokens', 'sessions', 'users', 'webhook_secrets'];
/** Columns of users that an organization may read about its members. */
const MEMBER_COLUMNS = 'id, email, first_name, last_name, language';
/** Tables that belong to no organization and are read together with an organization's rows. */
const READ_BY_ALL = ['reaction_subscribers'];
/** Key of the advisory lock that serializes the grants of concurrent migrations. The number is arbitrary. */
const GRANT_LOCK = 7_201_948;

/** Thrown when the tenant role cannot run statements of organizations. The message states the reason and the remedy. */
export class RowSecurityError extends Error {}

/**
 * Creates the tenant role if it is missing, lets the login switch to it, and grants it the tables that statements of an
 * organization need. Runs after every migration with ROW_SECURITY, to grant new tables.
 * @throws RowSecurityError when the role is missing and the login may not create it
 */
export async function prepareTenantRole(db: Db): Promise<void> {
  await knexOf(db).transaction(async (trx) => {
    await trx.raw('select pg_advisory_xact_lock(?)', [GRANT_LOCK]);
    const standing = await readRoleState(trx);
    if (!standing.exists && !standing.mayCreate)
      throw new RowSecurityError(
        `ROW_SECURITY is on, and this login may not create the role ${TENANT_ROLE}: have an administrator run ` +
          `\`create role ${TENANT_ROLE} nologin; grant ${TENANT_ROLE} to ${standing.login};\``,
      );
    if (!standing.exists) await trx.raw(`create role ${TENANT_ROLE} nologin`);
    if (!standing.exists || !standing.member) await trx.raw(`grant ${TENANT_ROLE} to session_user`);
    await trx.raw(`grant usage on schema public to ${TENANT_ROLE}`);
    for (const table of await ungrantedTables(trx))
      await trx.raw(`grant select, insert, update, delete on ?? to ${TENANT_ROLE}`, [table]);
    for (const table of READ_BY_ALL) await trx.raw(`grant select on ?? to ${TENANT_ROLE}`, [table]);
    await trx.raw(`grant select (${MEMBER_COLUMNS}) on users to ${TENANT_ROLE}`);
  });
}

/**
 * Checks that the policies apply to the tenant role but not to the login, and that the tenant role has its grants.
 * @throws RowSecurityError stating the problem
 */
export async function requireRowSecurity(db: Db): Promise<void> {
  const refuse = (fault: string) => {
    throw new RowSecurityError(`ROW_SECURITY is on, but ${fault}`);
  };
  await knexOf(db).transaction(async (trx) => {
    const { exists, member, login } = await readRoleState(trx);
    if (!exists || !member)
      refuse(`the login ${login} cannot switch to the role ${TENANT_ROLE}: run \`heron migrate\` first`);
    if (await isBound(trx))
      refuse(`the login ${login} does not own the tables: it would see no rows. Migrate and run with one login`);
    const tables = await ungrantedTables(trx);
    if (tables.length > 0)
      refuse(`the role ${TENANT_ROLE} may not use ${tables.join(', ')}: run \`heron migrate\` with ROW_SECURITY=true`);
    await trx.raw(`set local role ${TENANT_ROLE}`);
    if (!(await isBound(trx)))
      refuse(`the role ${TENANT_ROLE} is a superuser, owns the tables or bypasses row security`);
  });
}

interface Standing {
  login: string;
  mayCreate: boolean;
  exists: boolean;
  member: boolean;
}

async function readRoleState(trx: Knex): Promise<Standing> {
  const { rows } = (await trx.raw(
    `select session_user::text as login, l.rolsuper or l.rolcreaterole as "mayCreate", t.oid is not null as exists,
       l.rolsuper or coalesce(pg_has_role(l.oid, t.oid, 'member'), false) as member
     from pg_roles l left join pg_roles t on t.rolname = '${TENANT_ROLE}' where l.rolname = session_user`,
  )) as { rows: Standing[] };
  return rows[0]!;
}

/** Returns the tables with a policy that the tenant role may not use yet. */
async function ungrantedTables(trx: Knex): Promise<string[]> {
  const { rows } = (await trx.raw(
    `select c.relname as name from pg_class c
     where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace and c.relrowsecurity and c.relname <> all(?)
       and not (has_table_privilege('${TENANT_ROLE}', c.oid, 'select') and has_table_privilege('${TENANT_ROLE}', c.oid, 'insert')
         and has_table_privilege('${TENANT_ROLE}', c.oid, 'update') and has_table_privilege('${TENANT_ROLE}', c.oid, 'delete'))
     order by c.relname`,
    [NOT_GRANTED],
  )) as { rows: { name: string }[] };
  return rows.map(({ name }) => name);
}

async function isBound(trx: Knex): Promise<boolean> {
  const { rows } = (await trx.raw(`select row_security_active('contacts') as bound`)) as { rows: { bound: boolean }[] };
  return rows[0]!.bound;
}
