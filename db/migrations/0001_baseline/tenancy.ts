/** Extensions, and the policy that limits every role except the tables' owner to the rows of one organization. */
export const TENANCY = `
create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- Text as searches compare it, without regard to case; the same as foldCase of lib/fold-case.ts.
create function heron_fold(given text) returns text language sql immutable strict parallel safe
  return replace(lower(translate(given, 'İıςẞ', 'iiσß')), 'ß', 'ss');

-- Returns the organization of the transaction, or null. A plain expression, so that indexes can use it.
create function heron_organization() returns uuid language sql stable parallel safe as
  $$ select nullif(current_setting('heron.organization_id', true), '')::uuid $$;

-- Puts a table under the policy. The owner is not bound by it; statements run in another role with ROW_SECURITY.
create procedure heron_guard_rows(guarded regclass, condition text default 'organization_id = heron_organization()') language plpgsql as $$
begin
  execute format('alter table %s enable row level security', guarded);
  execute format('create policy organization on %s using (%s)', guarded, condition);
end $$;

-- Bounds of the first partitions.
create function pg_temp.next_month() returns timestamptz language sql as
  $$ select (date_trunc('month', now() at time zone 'UTC') + interval '1 month') at time zone 'UTC' $$;
-- Returns the least id of a moment: ids begin with their time in milliseconds since 1970.
create function pg_temp.first_id(moment timestamptz) returns uuid language sql as $$
  select (left(ms, 8) || '-' || right(ms, 4) || '-7000-8000-000000000000')::uuid
  from lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') ms
$$;
`;
