import type { Knex } from 'knex';
import { FREE_MAIL_DOMAINS } from '../../lib/free-mail.ts';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: {},
  secondsAtMillionRows: 20,
};

/** The domains of free mail providers become one list; companies of contacts that it names differently are read anew. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Written by migrations alone.
    create table free_mail_domains (domain text primary key);
  `);
  await knex.raw(`insert into free_mail_domains select unnest(string_to_array(?, ','))`, [
    [...FREE_MAIL_DOMAINS].join(','),
  ]);
  await knex.raw(
    `
    analyze free_mail_domains;
    -- Asked by triggers in the role of an organization, which reads no table that is nobody's.
    create function heron_is_free_mail(asked text) returns boolean language sql stable security definer set search_path from current as $$
      select exists (select from free_mail_domains where domain = lower(asked))
    $$;

    create or replace function heron_contact_profile(email text, fields jsonb, out company_domain text, out job_title text, out seniority text, out department text)
    language sql stable as $$
      select
        coalesce(
          nullif(regexp_replace(regexp_replace(lower(given.domain), '^([a-z]+://)?(www\\.)?', ''), '[/?#:].*$', ''), ''),
          case when heron_is_free_mail(split_part(email, '@', -1)) then '' else split_part(email, '@', -1) end),
        coalesce(given.title, ''), coalesce(lower(given.seniority), ''), coalesce(lower(given.department), '')
      from (
        select
          left(coalesce(max(value) filter (where key = 'company_domain'), max(value) filter (where key = 'domain'),
            max(value) filter (where key in ('website', 'company_website'))), 253) as domain,
          left(coalesce(max(value) filter (where key in ('job_title', 'jobtitle')), max(value) filter (where key = 'title'),
            max(value) filter (where key in ('position', 'role'))), 200) as title,
          left(max(value) filter (where key in ('seniority', 'seniority_level')), 100) as seniority,
          left(max(value) filter (where key = 'department'), 100) as department
        from (select translate(lower(k), ' -', '__') as key, trim(v) as value from jsonb_each_text(case jsonb_typeof(fields) when 'object' then fields else '{}' end) as e(k, v)) named
        where value <> ''
      ) given
    $$;

    update contact_outreach o set company_domain = p.company_domain
    from contacts c cross join lateral heron_contact_profile(c.email, c.custom_fields) p
    where c.id = o.contact_id and o.company_domain in ('', split_part(c.email, '@', -1)) and o.company_domain <> p.company_domain
      and (o.company_domain <> '') = heron_is_free_mail(split_part(c.email, '@', -1));
  `.replaceAll('?', '\\?'),
  );
}
