import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = { locks: {}, secondsAtMillionRows: 0 };

/**
 * Automations that were saved before the rights of their authors were kept (0129) get those of whoever the audit trail says saved them last, as they are
 * today; so do their runs under way. Where the trail does not say, or the member is gone, nothing is known: such an automation starts no other
 * one that needs a right, and instance health lists it.
 *
 * The numbers are bits of the permission masks: WRITE_CONTACTS, WRITE_CRM, WRITE_CAMPAIGNS and WRITE_UNIBOX.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    with saved as (
      select distinct on (a.id) a.id, l.organization_id, l.actor_kind, l.user_id, l.api_key_id, l.oauth_grant_id
      from automations a
      join audit_logs l on l.organization_id = a.organization_id and l.entity_id = a.id
      where a.author_rights is null and l.entity_type = 'automation' and l.action in ('create', 'update')
      order by a.id, l.created_at desc, l.id desc
    ),
    authors as (
      select s.id, s.actor_kind, coalesce(k.permissions, g.scopes, 0) as mask, coalesce(r.permissions, '{}') as permissions,
        case s.actor_kind when 'system' then true when 'api_key' then k.id is not null else r.id is not null end as is_known
      from saved s
      left join api_keys k on k.id = s.api_key_id and k.organization_id = s.organization_id and s.actor_kind = 'api_key'
      left join oauth_grants g on g.id = s.oauth_grant_id and g.organization_id = s.organization_id and s.actor_kind = 'oauth'
      left join memberships m on m.organization_id = s.organization_id and m.user_id = s.user_id
      left join roles r on r.id = m.role_id
    )
    update automations a set author_rights = array(
      select w.name from authors u, (values
          ('contacts', 512, 'manage_contacts'), ('crm', 2097152, 'manage_contacts'), ('campaigns', 64, 'manage_campaigns'), ('inbox', 16, 'send_campaigns'),
          ('leads', 0, null)) as w(name, bit, permission)
      where u.id = a.id and case u.actor_kind
        when 'system' then true
        when 'session' then w.permission is null or w.permission = any(u.permissions)
        when 'api_key' then u.mask & w.bit <> 0
        else u.mask & w.bit <> 0 and w.permission = any(u.permissions) end)
    from authors known where known.id = a.id and known.is_known;

    update automation_runs r set rights = a.author_rights from automations a
    where a.id = r.automation_id and r.status = 'running' and r.rights is null and a.author_rights is not null;
  `);
}
