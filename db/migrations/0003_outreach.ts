import type { Knex } from 'knex';

/** Mailboxes, campaigns, and the state of every contact on its way through one. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table mailboxes (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      user_id uuid,
      email text not null check (email = lower(email)),
      name text not null default '',
      provider text not null default 'smtp_imap' check (provider in ('gmail', 'outlook', 'smtp_imap')),
      status text not null default 'active' check (status in ('active', 'inactive', 'revoked')),
      smtp jsonb not null,
      imap jsonb,
      credentials bytea not null,
      credentials_version integer not null default 1,
      campaign_limit integer not null default 50,
      min_wait_time integer not null default 600,
      reply_to text not null default '',
      save_to_sent boolean not null default false,
      send_as_email text not null default '',
      signature_plain text not null default '',
      signature_html text not null default '',
      signature_sync boolean not null default true,
      signature_code boolean not null default false,
      timezone text not null default 'UTC',
      tracking_domain text not null default '',
      tracking_domain_verified boolean not null default false,
      tracking_domain_verified_at timestamptz,
      warmup timestamptz,
      warmup_paused_at timestamptz,
      warmup_base integer not null default 5,
      warmup_max integer not null default 40,
      warmup_increase integer not null default 2,
      warmup_reply_rate integer not null default 30,
      warmup_tag text not null default '',
      warmup_pool_type text not null default 'free',
      warmup_start_time text not null default '09:00',
      warmup_end_time text not null default '17:00',
      warmup_days integer not null default 31,
      -- A hold stops sending without changing the status: refused credentials, a provider's throttle.
      hold_code text,
      hold_reason text,
      hold_until timestamptz,
      -- The allocator's cursor: the latest slot given out.
      last_slot_at timestamptz,
      last_sent_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      constraint mailboxes_email_key unique (organization_id, email)
    );
    create index mailboxes_org on mailboxes (organization_id, id desc);

    create table mailbox_tags (
      organization_id uuid not null references organizations on delete cascade,
      mailbox_id uuid not null references mailboxes on delete cascade,
      label_id uuid not null references labels on delete cascade,
      primary key (mailbox_id, label_id)
    );
    create index mailbox_tags_label on mailbox_tags (label_id);

    create table mailbox_errors (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      mailbox_id uuid not null references mailboxes on delete cascade,
      error_code text not null,
      severity text not null check (severity in ('warning', 'error')),
      title text not null,
      message text not null,
      created_at timestamptz not null,
      resolved_at timestamptz
    );
    create index mailbox_errors_mailbox on mailbox_errors (mailbox_id, id desc);

    -- A credential on its way to the worker that dials it before anything is stored; gone when the answer is there.
    create table mailbox_checks (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      request bytea not null,
      created_at timestamptz not null,
      expires_at timestamptz not null
    );

    -- One row per mailbox and folder: how far it has been read, and which worker watches it.
    create table mailbox_sync (
      mailbox_id uuid not null references mailboxes on delete cascade,
      organization_id uuid not null references organizations on delete cascade,
      folder text not null default 'INBOX',
      uid_validity bigint,
      last_uid bigint not null default 0,
      owner text,
      lease_until timestamptz,
      last_synced_at timestamptz,
      failures integer not null default 0,
      retry_at timestamptz,
      last_error text,
      primary key (mailbox_id, folder)
    );
    create index mailbox_sync_free on mailbox_sync (lease_until);

    -- Processes that watch mailboxes, so that each takes its fair share.
    create table sync_workers (
      id text primary key,
      alive_until timestamptz not null
    );

    create table campaigns (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      user_id uuid,
      name text not null,
      description text not null default '',
      status text not null default 'draft' check (status in ('draft', 'active', 'paused', 'paused_no_accounts', 'paused_trial_expired', 'paused_undeliverable', 'completed')),
      kind text not null default 'sequence' check (kind in ('sequence', 'one_time')),
      stop_on_reply boolean not null default true,
      open_tracking boolean not null default true,
      link_tracking boolean not null default true,
      text_only boolean not null default false,
      daily_limit integer not null default 50,
      unsubscribe_header boolean not null default true,
      unsubscribe_mode text not null default 'inherit' check (unsubscribe_mode in ('inherit', 'text', 'link', 'off')),
      risky_emails boolean not null default false,
      cc text[] not null default '{}',
      bcc text[] not null default '{}',
      start_date timestamptz,
      end_date timestamptz,
      timezone text not null default 'UTC',
      days integer not null default 31 check (days between 0 and 127),
      start_time text not null default '09:00',
      end_time text not null default '17:00',
      schedule_windows jsonb not null default '[]',
      email_tags uuid[] not null default '{}',
      folders uuid[] not null default '{}',
      contact_order_by text not null default 'created_at',
      contact_order_dir text not null default 'asc',
      contact_order_field text,
      sender_strategy text not null default 'tags' check (sender_strategy in ('tags', 'explicit')),
      rotation_mode text not null default 'round_robin',
      ramp_enabled boolean not null default false,
      ramp_start integer not null default 5,
      ramp_increment integer not null default 5,
      ramp_ceiling integer not null default 50,
      ramp_level integer not null default 0,
      ramp_day date,
      esp_match_mode text not null default 'off' check (esp_match_mode in ('off', 'prefer', 'strict')),
      max_new_leads_per_day integer not null default 0,
      prioritize_new_leads boolean not null default false,
      entry_delay_minutes integer not null default 0 check (entry_delay_minutes between 0 and 129600),
      continuous boolean not null default false,
      idle_since timestamptz,
      tracking_domain text not null default '',
      tracking_domain_verified boolean not null default false,
      tracking_domain_verified_at timestamptz,
      utm_tracking boolean not null default false,
      utm_source text not null default '',
      utm_medium text not null default '',
      utm_campaign text not null default '',
      -- Rises with every pause, resume and schedule edit; runs signalled below it still have to be told.
      control_epoch integer not null default 0,
      -- Rises with every change of the step graph; a cached graph below it is read again.
      graph_version integer not null default 0,
      had_leads boolean not null default false,
      started_at timestamptz,
      last_status_change_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create index campaigns_org on campaigns (organization_id, id desc);
    create index campaigns_status on campaigns (organization_id, status, id desc);

    create table app_connections (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      name text not null,
      base_url text not null,
      secret bytea not null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      constraint app_connections_name_key unique (organization_id, name),
      constraint app_connections_owner_key unique (organization_id, id)
    );

    create table campaign_steps (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      campaign_id uuid not null references campaigns on delete cascade,
      position integer not null,
      name text not null default '',
      kind text not null default 'email' check (kind in ('email', 'action', 'wait')),
      subject text not null default '',
      body_plain text not null default '',
      body_html text not null default '',
      body_sync boolean not null default true,
      body_code boolean not null default false,
      wait_after integer not null default 0,
      thread_reply boolean not null default true,
      conditions jsonb not null default '{"branches": []}',
      action jsonb,
      -- Read out of the action, so that the foreign key below holds whoever writes the step.
      app_connection_id uuid generated always as (
        case when action ->> 'type' = 'app_action' and action ->> 'app_connection_id' ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
          then (action ->> 'app_connection_id')::uuid end
      ) stored,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      constraint campaign_steps_app_connection_fkey foreign key (organization_id, app_connection_id) references app_connections (organization_id, id)
    );
    create index campaign_steps_campaign on campaign_steps (campaign_id, position);
    create index campaign_steps_connection on campaign_steps (app_connection_id) where app_connection_id is not null;

    create table campaign_variants (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      campaign_id uuid not null references campaigns on delete cascade,
      step_id uuid references campaign_steps on delete cascade,
      name text not null,
      weight integer not null default 1,
      subject text not null default '',
      body_html text not null default '',
      body_plain text not null default '',
      is_control boolean not null default false,
      is_active boolean not null default true,
      metadata jsonb not null default '{}',
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create index campaign_variants_campaign on campaign_variants (campaign_id);

    create table campaign_senders (
      organization_id uuid not null references organizations on delete cascade,
      campaign_id uuid not null references campaigns on delete cascade,
      mailbox_id uuid not null references mailboxes on delete cascade,
      weight integer not null default 1,
      enabled boolean not null default true,
      last_sent_at timestamptz,
      primary key (campaign_id, mailbox_id)
    );
    create index campaign_senders_mailbox on campaign_senders (mailbox_id);

    create table campaign_advanced (
      campaign_id uuid primary key references campaigns on delete cascade,
      organization_id uuid not null references organizations on delete cascade,
      overrides jsonb not null default '{}',
      updated_at timestamptz not null
    );

    create table outreach_settings (
      organization_id uuid primary key references organizations on delete cascade,
      settings jsonb not null default '{}',
      updated_at timestamptz not null
    );

    create table campaign_logs (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      campaign_id uuid not null references campaigns on delete cascade,
      event_type text not null,
      message text not null default '',
      metadata jsonb not null default '{}',
      created_at timestamptz not null
    );
    create index campaign_logs_campaign on campaign_logs (campaign_id, id desc);

    -- One contact in one campaign.
    create table enrollments (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      campaign_id uuid not null references campaigns on delete cascade,
      contact_id uuid not null references contacts on delete cascade,
      state text not null default 'pending' check (state in ('pending', 'active', 'completed', 'replied', 'bounced', 'failed', 'unsubscribed', 'undeliverable')),
      current_step_id uuid,
      step_started_at timestamptz,
      -- What the contact waits for now, in words for operators and the API; times in UTC.
      waiting_for text,
      waiting_until timestamptz,
      blocked boolean not null default false,
      failure_reason text,
      mailbox_id uuid references mailboxes on delete set null,
      app_values jsonb not null default '{}',
      -- Subject and Message-IDs of the conversation so far; the next email replies in it.
      conversation jsonb not null default '{"subject": "", "messageIds": []}',
      hold_since timestamptz,
      hold_until timestamptz,
      hold_reason text,
      hold_source text check (hold_source in ('manual', 'out_of_office')),
      signalled_epoch integer not null default 0,
      entered_at timestamptz not null,
      launched_at timestamptz,
      last_activity_at timestamptz,
      finished_at timestamptz,
      constraint enrollments_contact_key unique (campaign_id, contact_id)
    );
    create index enrollments_contact on enrollments (contact_id);
    create index enrollments_pending on enrollments (campaign_id, entered_at, id) where state = 'pending';
    -- Runs that still have to be told of an edit, and whether any is under way.
    create index enrollments_active on enrollments (campaign_id, signalled_epoch) where state = 'active';
    create index enrollments_held on enrollments (campaign_id, hold_until) where state = 'pending' and hold_until is not null;
    create index enrollments_waiting on enrollments (campaign_id, waiting_until) where state = 'active';
    create index enrollments_campaign on enrollments (campaign_id, id desc);

    -- One execution of one step for one contact; its id is the event id the customer's app dedupes on.
    -- It goes with its enrollment: a foreign key to campaign or contact would be searched for row by row when one is deleted.
    create table step_runs (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      enrollment_id uuid not null references enrollments on delete cascade,
      campaign_id uuid not null,
      contact_id uuid not null,
      step_id uuid not null,
      seq integer not null,
      kind text not null,
      state text not null check (state in ('running', 'waiting', 'completed', 'skipped', 'failed', 'blocked')),
      outcome text,
      detail text,
      attempts integer not null default 0,
      output_key text,
      output jsonb,
      error jsonb,
      started_at timestamptz not null,
      completed_at timestamptz,
      constraint step_runs_seq_key unique (enrollment_id, seq)
    );
    create index step_runs_blocked on step_runs (campaign_id, id desc) where state = 'blocked';

    create table waits (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      enrollment_id uuid not null,
      step_run_id uuid not null unique references step_runs on delete cascade,
      campaign_id uuid not null,
      contact_id uuid not null,
      step_id uuid not null,
      event_name text not null,
      state text not null default 'open' check (state in ('open', 'resumed', 'timed_out', 'cancelled')),
      opened_at timestamptz not null,
      deadline timestamptz,
      event_id uuid,
      settled_at timestamptz
    );
    create index waits_open on waits (contact_id, event_name) where state = 'open';
    create index waits_enrollment on waits (enrollment_id) where state = 'open';

    -- One row per (enrollment, step), written before the network call: what makes a second send impossible.
    create table sends (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      campaign_id uuid references campaigns on delete set null,
      enrollment_id uuid references enrollments on delete set null,
      step_id uuid,
      step_run_id uuid,
      contact_id uuid references contacts on delete set null,
      mailbox_id uuid references mailboxes on delete set null,
      variant_id uuid,
      state text not null check (state in ('reserved', 'sending', 'sent', 'uncertain', 'bounced', 'failed', 'skipped')),
      recipient text not null,
      message_id text,
      subject text not null default '',
      -- The conversation as it is once this email has left.
      conversation jsonb,
      slot_at timestamptz not null,
      slot_day date not null,
      is_first boolean not null default false,
      attempts integer not null default 0,
      claim_token uuid,
      claimed_at timestamptz,
      sent_at timestamptz,
      smtp_response text,
      error_code text,
      error_detail text,
      opened_at timestamptz,
      machine_opened_at timestamptz,
      clicked_at timestamptz,
      machine_clicked_at timestamptz,
      replied_at timestamptz,
      bounced_at timestamptz,
      complained_at timestamptz,
      unsubscribed_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create unique index sends_once on sends (enrollment_id, step_id) where enrollment_id is not null;
    create unique index sends_message_id on sends (organization_id, message_id) where message_id is not null;
    create index sends_campaign on sends (campaign_id, state);
    create index sends_contact on sends (contact_id, id desc);
    create index sends_mailbox_open on sends (mailbox_id, slot_at) where state in ('reserved', 'sending');
    create index sends_org on sends (organization_id, id desc);
    -- Rolling bounce and complaint rates. Not partial: the planner does not see that the comparison implies "is not null".
    create index sends_campaign_left on sends (campaign_id, coalesce(sent_at, bounced_at));

    -- Signals clients report themselves (POST /deliverability/events); a key makes a retry harmless.
    create table deliverability_events (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      event_type text not null check (event_type in ('bounce', 'complaint', 'unsubscribe', 'open', 'click', 'reply')),
      recipient_email text not null,
      campaign_id uuid,
      send_id uuid,
      contact_id uuid,
      provider text not null default '',
      reason text not null default '',
      idempotency_key text,
      metadata jsonb not null default '{}',
      created_at timestamptz not null
    );
    create index deliverability_events_org on deliverability_events (organization_id, created_at desc);
    create unique index deliverability_events_key on deliverability_events (organization_id, idempotency_key) where idempotency_key is not null;

    create table tracked_links (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      send_id uuid not null,
      campaign_id uuid,
      step_id uuid,
      contact_id uuid,
      url text not null,
      label text not null default '',
      position integer not null,
      created_at timestamptz not null
    );
    create index tracked_links_send on tracked_links (send_id);

    create table engagement_events (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      type text not null check (type in ('open', 'click', 'unsubscribe', 'reply', 'bounce', 'complaint')),
      send_id uuid,
      campaign_id uuid,
      step_id uuid,
      contact_id uuid,
      mailbox_id uuid,
      link_id uuid,
      machine boolean not null default false,
      machine_reason text,
      source text,
      user_agent text not null default '',
      client text,
      device_type text,
      country_code text,
      detail jsonb not null default '{}',
      -- A click is announced a little later, when no burst has given it away as a machine's; null once that is decided.
      announce_at timestamptz,
      at timestamptz not null
    );
    create index engagement_events_announce on engagement_events (announce_at) where announce_at is not null;
    create index engagement_events_send on engagement_events (send_id, type);
    create index engagement_events_campaign on engagement_events (campaign_id, at desc);
    create index engagement_events_contact on engagement_events (contact_id, at desc);

    create table inbound_messages (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      mailbox_id uuid not null references mailboxes on delete cascade,
      folder text not null,
      uid_validity bigint not null,
      uid bigint not null,
      message_id text,
      thread_id text not null,
      in_reply_to text,
      reference_ids text[] not null default '{}',
      from_email text not null default '',
      from_name text not null default '',
      to_emails text[] not null default '{}',
      subject text not null default '',
      body_plain text not null default '',
      kind text not null check (kind in ('reply', 'bounce', 'complaint', 'out_of_office', 'automated', 'other')),
      intent text,
      intent_confidence real,
      send_id uuid,
      campaign_id uuid,
      contact_id uuid references contacts on delete set null,
      size integer not null default 0,
      seen boolean not null default false,
      -- Why a message could not be read; it is kept, and skipped.
      error text,
      received_at timestamptz not null,
      created_at timestamptz not null,
      constraint inbound_messages_uid_key unique (mailbox_id, folder, uid_validity, uid)
    );
    create index inbound_messages_org on inbound_messages (organization_id, id desc);
    create index inbound_messages_thread on inbound_messages (organization_id, thread_id, id);
    create index inbound_messages_contact on inbound_messages (contact_id, id desc);
    create index inbound_messages_message on inbound_messages (organization_id, message_id);

    -- Reserved plus sent, per scope and campaign-local or mailbox-local day: what the allocator checks caps against.
    create table daily_counters (
      organization_id uuid not null references organizations on delete cascade,
      scope text not null check (scope in ('campaign', 'campaign_new', 'mailbox', 'org_campaigns')),
      scope_id uuid not null,
      day date not null,
      count integer not null default 0,
      primary key (scope_id, scope, day)
    );

    create table product_events (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      contact_id uuid not null references contacts on delete cascade,
      name text not null,
      data jsonb not null default '{}',
      occurred_at timestamptz not null,
      received_at timestamptz not null
    );
    create index product_events_org on product_events (organization_id, received_at desc, id desc);
    create index product_events_name on product_events (organization_id, name, received_at desc, id desc);
    create index product_events_contact on product_events (contact_id, received_at desc, id desc);
  `);
}
