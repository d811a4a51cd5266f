import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { oauth_grants: 'ShareLock', organizations: 'ShareRowExclusiveLock' },
  secondsAtMillionRows: 1,
};

/** Which workspace holds a tracking domain, and what is granted in a workspace. Those in use go to the workspace that verified them first; others verify again. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table tracking_domains (
      domain text primary key,
      organization_id uuid not null references organizations on delete cascade,
      created_at timestamptz not null
    );
    create index tracking_domains_organization on tracking_domains (organization_id);

    -- An owner sees what anybody in the workspace granted.
    create index oauth_grants_organization on oauth_grants (organization_id) where revoked_at is null;

    insert into tracking_domains (domain, organization_id, created_at)
    select distinct on (domain) domain, organization_id, verified_at from (
      select tracking_domain as domain, organization_id, coalesce(tracking_domain_verified_at, created_at) as verified_at
      from campaigns where tracking_domain_verified and tracking_domain <> ''
      union all
      select tracking_domain, organization_id, coalesce(tracking_domain_verified_at, created_at)
      from mailboxes where tracking_domain_verified and tracking_domain <> ''
    ) used
    order by domain, verified_at;

    update campaigns c set tracking_domain_verified = false, tracking_domain_verified_at = null
    from tracking_domains d
    where c.tracking_domain_verified and d.domain = c.tracking_domain and d.organization_id <> c.organization_id;
    update mailboxes m set tracking_domain_verified = false, tracking_domain_verified_at = null
    from tracking_domains d
    where m.tracking_domain_verified and d.domain = m.tracking_domain and d.organization_id <> m.organization_id;
  `);
}
