import { json } from '../../db/connection.ts';
import type { TestDeps } from '../harness/database.ts';
import { createTenant } from '../harness/factories.ts';
import { seeded, type Random } from '../faults/random.ts';
import type { CampaignSpec, WorldSpec } from './draw.ts';

/** Ids of what a world consists of, in the order of its specification. */
export interface Built {
  organizationId: string;
  mailboxes: string[];
  campaigns: { id: string; steps: string[] }[];
  leads: { enrollment: string; contact: string; email: string; campaign: string; at: number }[];
}

/**
 * Writes a drawn world into the database as an organization of its own. Ids come from the seed too: the engine draws
 * spreads and variants by them, so that a seed repeats every slot.
 */
export async function buildWorld(deps: TestDeps, spec: WorldSpec): Promise<Built> {
  const { db } = deps;
  const random = seeded(spec.seed).fork('ids');
  const now = new Date(spec.from);
  const { organizationId } = await createTenant(deps, `Simulation ${spec.seed}`);
  const common = { organization_id: organizationId, created_at: now, updated_at: now };
  const mailboxes = spec.mailboxes.map(() => drawId(random));
  const campaigns = spec.campaigns.map(({ steps }) => ({
    id: drawId(random),
    steps: [0, ...steps].map(() => drawId(random)),
  }));
  const leads = spec.leads.map(({ campaign, at }) => {
    const contact = drawId(random);
    return {
      enrollment: drawId(random),
      contact,
      email: `${contact}@lead.example.com`,
      campaign: campaigns[campaign]!.id,
      at,
    };
  });
  await db('mailboxes').insert(
    spec.mailboxes.map((mailbox, index) => ({
      ...common,
      id: mailboxes[index]!,
      email: `m${index}@sender.example.com`,
      provider: mailbox.provider,
      smtp: json({ host: '127.0.0.1', port: 1, username: 'm', security: 'none' }),
      imap: null,
      credentials: deps.keyring.seal(
        JSON.stringify({ smtp_password: 'secret', imap_password: 'secret' }),
        `mailboxes/${mailboxes[index]!}`,
      ),
      min_wait_time: mailbox.gapSeconds,
      campaign_limit: mailbox.cap,
    })),
  );
  await db('campaigns').insert(
    spec.campaigns.map((campaign, index) => ({
      ...common,
      id: campaigns[index]!.id,
      status: 'active',
      had_leads: true,
      // A campaign whose leads have all finished waits for those who have not arrived yet.
      continuous: true,
      control_epoch: 1,
      graph_version: 1,
      ...campaignColumns(campaign, index),
    })),
  );
  for (const [index, campaign] of spec.campaigns.entries()) {
    const { id, steps } = campaigns[index]!;
    await db('campaign_steps').insert(stepRows(campaign, id, steps, common));
    if (campaign.pool) {
      await db('campaign_senders').insert(
        campaign.pool.map((place) => ({
          organization_id: organizationId,
          campaign_id: id,
          mailbox_id: mailboxes[place]!,
        })),
      );
    }
    if (campaign.hours) {
      const overrides = {
        send_time_optimization: {
          enabled: true,
          use_contact_timezone: true,
          preferred_hours: campaign.hours,
          weekend_weight_multiplier: 1,
        },
      };
      await db('campaign_advanced').insert({
        organization_id: organizationId,
        campaign_id: id,
        overrides: json(overrides),
        updated_at: now,
      });
    }
  }
  for (let at = 0; at < leads.length; at += 1000) {
    await db('contacts').insert(
      leads.slice(at, at + 1000).map(({ contact, email }, index) => ({
        ...common,
        id: contact,
        email,
        first_name: 'Lea',
        esp_provider: spec.leads[at + index]!.provider,
        custom_fields: json({ timezone: spec.leads[at + index]!.timezone }),
      })),
    );
  }
  return { organizationId, mailboxes, campaigns, leads };
}

function campaignColumns(campaign: CampaignSpec, index: number): Record<string, unknown> {
  return {
    name: `Campaign ${index}`,
    timezone: campaign.timezone,
    days: campaign.days,
    start_time: campaign.start,
    end_time: campaign.end,
    start_date: campaign.startsAt === null ? null : new Date(campaign.startsAt),
    end_date: campaign.endsAt === null ? null : new Date(campaign.endsAt),
    daily_limit: campaign.dailyLimit,
    max_new_leads_per_day: campaign.maxNewPerDay,
    esp_match_mode: campaign.espMatch,
    entry_delay_minutes: campaign.entryDelayMinutes,
    prioritize_new_leads: campaign.prioritizeNew,
    sender_strategy: campaign.pool ? 'explicit' : 'tags',
    ...(campaign.ramp
      ? {
          ramp_enabled: true,
          ramp_start: campaign.ramp.start,
          ramp_increment: campaign.ramp.increment,
          ramp_ceiling: campaign.ramp.ceiling,
        }
      : {}),
  };
}

function stepRows(
  { steps }: CampaignSpec,
  campaignId: string,
  ids: readonly string[],
  common: Record<string, unknown>,
): Record<string, unknown>[] {
  const row = (index: number, fields: Record<string, unknown>) => ({
    ...common,
    id: ids[index]!,
    campaign_id: campaignId,
    position: index + 1,
    subject: '',
    body_plain: `Step ${index} for {{.FirstName}}`,
    wait_after: 0,
    action: null,
    conditions: json({ branches: ids[index + 1] ? [{ to: ids[index + 1] }] : [] }),
    ...fields,
  });
  return [
    row(0, { kind: 'email', subject: 'Hello', thread_reply: false }),
    ...steps.map((step, place) => {
      switch (step.kind) {
        case 'email':
          return row(place + 1, {
            kind: 'email',
            subject: step.thread ? '' : 'Again',
            wait_after: step.waitDays,
            thread_reply: step.thread,
          });
        case 'wait':
          return row(place + 1, { kind: 'wait', action: json({ type: 'wait', wait_minutes: step.minutes }) });
        case 'event':
          return row(place + 1, {
            kind: 'action',
            action: json({
              type: 'wait_for_event',
              wait_event_name: step.name,
              timeout_minutes: step.timeoutMinutes,
              on_timeout: 'continue',
            }),
          });
      }
    }),
  ];
}

function drawId(random: Random): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(random.next() * 16).toString(16)).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}
