import type { Knex } from 'knex';

/** What was called with each API key: single requests, and their counts per minute. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Both tables go with their key, and with it the organization: a second foreign key would only cost a check per request.
    create table api_key_usage_logs (
      id uuid primary key,
      organization_id uuid not null,
      api_key_id uuid not null references api_keys on delete cascade,
      endpoint text not null,
      method text not null,
      ip_address text not null,
      user_agent text not null,
      response_code smallint not null,
      response_time_ms integer not null,
      created_at timestamptz not null
    );
    create index api_key_usage_logs_key on api_key_usage_logs (api_key_id, id desc);
    create index api_key_usage_logs_age on api_key_usage_logs (created_at);

    -- What summary and analytics add up, so that nothing ever counts logs. The running minute is updated in place: room is left for it.
    create table api_key_usage_minutes (
      organization_id uuid not null,
      api_key_id uuid not null references api_keys on delete cascade,
      minute timestamptz not null,
      endpoint text not null,
      method text not null,
      count integer not null,
      success integer not null,
      client_errors integer not null,
      server_errors integer not null,
      latency_ms bigint not null,
      last_at timestamptz not null,
      primary key (api_key_id, minute, endpoint, method)
    ) with (fillfactor = 80);
    create index api_key_usage_minutes_org on api_key_usage_minutes (organization_id, minute);
    create index api_key_usage_minutes_age on api_key_usage_minutes (minute);
  `);
}
