import { type TestAssembly } from '../test/harness/database.ts';
import { json } from '../db/connection.ts';
import { systemCtx } from '../domain/platform/kernel/context.ts';
import { transact } from '../domain/platform/kernel/transact.ts';
import { signalLauncher } from '../domain/sending/control/signals.ts';
import { createCampaign, createMailbox, createTenant, type StepSpec, type Tenant } from '../test/harness/factories.ts';

/** Creates contacts by SQL in the database. As with real contacts, later ones have greater ids. */
export async function fillContacts({ deps }: TestAssembly, organizationId: string, count: number): Promise<void> {
  await deps.db.raw(
    `insert into contacts (id, organization_id, email, first_name, last_name, company, phone, custom_fields, created_at, updated_at)
     select (lpad(to_hex((extract(epoch from now()) * 1000)::bigint - :count + n), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid,
       :org, 'contact' || n || '@company' || n % 5000 || '.example.org', 'First' || n % 700, 'Last' || n % 900, 'Company ' || n % 5000,
       '+1555' || lpad(n::text, 7, '0'), jsonb_build_object('City', 'City ' || n % 300, 'Plan', case n % 3 when 0 then 'free' else 'pro' end),
       now() - (:count - n) * interval '1 second', now()
     from generate_series(1, :count) n`,
    { org: organizationId, count },
  );
  await deps.db.raw('analyze contacts');
}

interface CampaignSpec {
  contacts: number;
  steps: StepSpec[];
  mailboxes: number;
  /** Minimum time (seconds) between two emails of a mailbox. */
  gapSeconds: number;
  smtpPort: number;
}

/**
 * Creates a workspace with contacts, mailboxes that send to the sink, and an active campaign with all contacts as
 * leads.
 */
export async function makeCampaign(
  assembly: TestAssembly,
  spec: CampaignSpec,
): Promise<{ tenant: Tenant; campaignId: string }> {
  const { deps } = assembly;
  const tenant = await createTenant(deps, 'Bench');
  const { organizationId } = tenant;
  for (let index = 0; index < spec.mailboxes; index += 1) {
    await createMailbox(
      deps,
      organizationId,
      `sender${index}@bench.example.com`,
      { smtp: { host: '127.0.0.1', port: spec.smtpPort } },
      {
        min_wait_time: spec.gapSeconds,
        campaign_limit: 1_000_000,
      },
    );
  }
  await fillContacts(assembly, organizationId, spec.contacts);
  const { campaignId } = await createCampaign(deps, organizationId, spec.steps, { daily_limit: 1_000_000 });
  await deps.db('outreach_settings').insert({
    organization_id: organizationId,
    settings: json({ bounce_pipeline: { auto_pause_campaign_on_spike: false } }),
    updated_at: deps.clock.now(),
  });
  await deps.db.raw(
    `insert into enrollments (id, organization_id, campaign_id, contact_id, entered_at, last_activity_at)
     select gen_random_uuid(), organization_id, :campaign, id, now(), now() from contacts where organization_id = :org`,
    { campaign: campaignId, org: organizationId },
  );
  await deps.db.raw('analyze enrollments');
  return { tenant, campaignId };
}

/** Signals the launcher of a campaign. */
export async function launchCampaign({ deps }: TestAssembly, tenant: Tenant, campaignId: string): Promise<void> {
  await transact(systemCtx(deps, tenant.organizationId, 'bench'), async (tx) =>
    signalLauncher(tx, campaignId, 'started'),
  );
}
