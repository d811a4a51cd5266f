import { json } from '../../db/connection.ts';
import type { TestDeps } from '../harness/database.ts';
import { createTenant } from '../harness/factories.ts';
import { seeded, type Random } from '../faults/random.ts';
import type { CampaignSpec, StepSpec, WorldSpec } from './draw.ts';
import { externalText } from '../../domain/platform/external-text.ts';

/** Ids of the objects of a world, in the order of its specification. */
export interface Built {
  organizationId: string;
  mailboxes: string[];
  /**
   * `first` is the id of the step before the first email. `steps` are the ids of the first email and of the steps after
   * it.
   */
  campaigns: { id: string; tag: string; first: string | null; steps: string[] }[];
  leads: { enrollment: string; contact: string; email: string; campaign: string; at: number }[];
}

/**
 * Writes a random world into the database as its own organization. Ids come from the seed too: the engine derives
 * offsets and variants from them, so that a seed always gives the same slots.
 */
export async function buildWorld(deps: TestDeps, spec: WorldSpec): Promise<Built> {
  const { db } = deps;
  const random = seeded(spec.seed).fork('ids');
  const now = new Date(spec.from);
  const { organizationId } = await createTenant(deps, `Simulation ${spec.seed}`);
  const common = { organization_id: organizationId, created_at: now, updated_at: now };
  const mailboxes = spec.mailboxes.map(() => drawId(random));
  const campaigns = spec.campaigns.map(({ steps, begin }) => ({
    id: drawId(random),
    steps: [0, ...steps].map(() => drawId(random)),
    tag: drawId(random),
    first: begin && drawId(random),
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
      ...(mailbox.restsUntil === null
        ? {}
        : {
            hold_code: 'sender_refused',
            hold_reason: externalText('too many'),
            hold_until: new Date(mailbox.restsUntil),
          }),
    })),
  );
  const app = await connectApp(deps, spec, common);
  await insertEarlier(deps, spec, { organizationId, mailboxes });
  await db('campaigns').insert(
    spec.campaigns.map((campaign, index) => ({
      ...common,
      id: campaigns[index]!.id,
      status: 'active',
      had_leads: true,
      started_at: now,
      // When all its leads have finished, the campaign stays active for leads that are added later.
      continuous: true,
      control_epoch: 1,
      graph_version: 1,
      ...campaignColumns(campaign, index),
      ...(campaign.pool && campaign.poolBy === 'tags' ? { email_tags: [campaigns[index]!.tag] } : {}),
    })),
  );
  for (const [index, campaign] of spec.campaigns.entries()) {
    const { id, tag } = campaigns[index]!;
    await db('campaign_steps').insert(stepRows(campaign, campaigns[index]!, common, app));
    if (campaign.pool && campaign.poolBy === 'tags') {
      await db('labels').insert({
        ...common,
        id: tag,
        registry: 'tag',
        title: `Pool ${index}`,
        color: 'blue',
        position: index,
      });
      await db('mailbox_tags').insert(
        campaign.pool.map((place) => ({
          organization_id: organizationId,
          mailbox_id: mailboxes[place]!,
          label_id: tag,
        })),
      );
    } else if (campaign.pool) {
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
          weekend_weight_multiplier: campaign.weekends ? 1 : 0,
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

/** Adds the connection of an app that steps can call. Returns its id. */
async function connectApp(deps: TestDeps, { seed }: WorldSpec, common: Record<string, unknown>): Promise<string> {
  const id = drawId(seeded(seed).fork('app'));
  const secret = deps.keyring.seal('a secret of the app', `app_connections/${id}`);
  await deps.db('app_connections').insert({ ...common, id, name: 'App', base_url: 'https://app.example.com/', secret });
  return id;
}

/** Inserts the emails that mailboxes sent before the world began, and adds them to the daily counters. */
async function insertEarlier(
  { db }: TestDeps,
  spec: WorldSpec,
  { organizationId, mailboxes }: Pick<Built, 'organizationId' | 'mailboxes'>,
): Promise<void> {
  const random = seeded(spec.seed).fork('earlier');
  const sent = spec.mailboxes.flatMap(({ before }, index) => before.map((at) => ({ mailbox: mailboxes[index]!, at })));
  if (sent.length === 0) return;
  const utcDay = (at: number): string => new Date(at).toISOString().slice(0, 10);
  await db('sends').insert(
    sent.map(({ mailbox, at }) => ({
      id: drawId(random),
      organization_id: organizationId,
      mailbox_id: mailbox,
      state: 'sent',
      recipient: 'earlier@lead.example.com',
      slot_at: new Date(at),
      slot_day: utcDay(at),
      sent_at: new Date(at),
      created_at: new Date(at),
      updated_at: new Date(at),
    })),
  );
  const counts = new Map<string, number>();
  for (const { mailbox, at } of sent)
    counts.set(`${mailbox}/${utcDay(at)}`, (counts.get(`${mailbox}/${utcDay(at)}`) ?? 0) + 1);
  await db('daily_counters').insert(
    [...counts].map(([key, count]) => ({
      organization_id: organizationId,
      scope: 'mailbox',
      scope_id: key.split('/')[0]!,
      day: key.split('/')[1]!,
      count,
    })),
  );
}

function campaignColumns(campaign: CampaignSpec, index: number): Record<string, unknown> {
  return {
    name: `Campaign ${index}`,
    timezone: campaign.timezone,
    days: campaign.days,
    ...windowColumns(campaign),
    start_date: campaign.startsAt === null ? null : new Date(campaign.startsAt),
    end_date: campaign.endsAt === null ? null : new Date(campaign.endsAt),
    daily_limit: campaign.dailyLimit,
    max_new_leads_per_day: campaign.maxNewPerDay,
    esp_match_mode: campaign.espMatch,
    // A reply does not end a sequence that branches on replies.
    stop_on_reply: !campaign.steps.some((step) => step.kind === 'email' && step.onlyIf === 'replied'),
    entry_delay_minutes: campaign.entryDelayMinutes,
    prioritize_new_leads: campaign.prioritizeNew,
    sender_strategy: campaign.pool && campaign.poolBy === 'senders' ? 'explicit' : 'tags',
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

/**
 * Returns the columns of a campaign's windows: start and end of a single window, or several windows per weekday, Sunday
 * first.
 */
function windowColumns({ windows, days }: CampaignSpec): Record<string, unknown> {
  const [first] = windows;
  if (windows.length === 1) return { start_time: first![0], end_time: first![1] };
  const minutes = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
  const ofDay = windows.map(([from, to]) => ({ start: minutes(from), end: minutes(to) }));
  return {
    schedule_windows: json([6, 0, 1, 2, 3, 4, 5].map((bit) => ((days & (1 << bit)) !== 0 ? ofDay : []))),
  };
}

function stepRows(
  { steps, begin }: CampaignSpec,
  { id, first, steps: ids }: Built['campaigns'][number],
  common: Record<string, unknown>,
  app: string,
): Record<string, unknown>[] {
  /**
   * Returns the branches of a step that lead to `to`. A failed app call blocks the lead if no branch continues after
   * it.
   */
  const plainAfter = (step: StepSpec | null | undefined, to: string | undefined) => {
    const success = { when: [{ field: 'node_outcome', operator: 'equals', value: 'success' }] };
    return json({ branches: to ? [{ to, ...(step?.kind === 'app' && step.onError === 'block' ? success : {}) }] : [] });
  };
  /** Returns the branches to the step after the one at `index`. */
  const onward = (index: number) => {
    const next = steps[index];
    if (next?.kind !== 'email' || !next.onlyIf) return plainAfter(steps[index - 1], ids[index + 1]);
    const when = [{ field: next.onlyIf, operator: 'equals', value: true }];
    return json({ branches: [{ to: ids[index + 1]!, when }, { to: null }] });
  };
  const row = (step: string, position: number, conditions: unknown, fields: Record<string, unknown>) => ({
    ...common,
    id: step,
    campaign_id: id,
    position,
    subject: '',
    body_plain: `Step ${position - 1} for {{.FirstName}}`,
    wait_after: 0,
    action: null,
    conditions,
    ...fields,
  });
  return [
    ...(begin ? [row(first!, 0, plainAfter(begin, ids[0]), fieldsOf(begin, app))] : []),
    row(ids[0]!, 1, onward(0), { kind: 'email', subject: 'Hello', thread_reply: false }),
    ...steps.map((step, place) => row(ids[place + 1]!, place + 2, onward(place + 1), fieldsOf(step, app))),
  ];
}

function fieldsOf(step: StepSpec, app: string): Record<string, unknown> {
  switch (step.kind) {
    case 'app':
      return {
        kind: 'action',
        action: json({ type: 'app_action', app_connection_id: app, path: 'ask', output_key: 'answer', inputs: {} }),
      };
    case 'email':
      return {
        kind: 'email',
        subject: step.thread ? '' : 'Again',
        wait_after: step.waitDays,
        thread_reply: step.thread,
      };
    case 'wait':
      return { kind: 'wait', action: json({ type: 'wait', wait_minutes: step.minutes }) };
    case 'event':
      return {
        kind: 'action',
        action: json({
          type: 'wait_for_event',
          wait_event_name: step.name,
          timeout_minutes: step.timeoutMinutes,
          on_timeout: 'continue',
        }),
      };
  }
}

function drawId(random: Random): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(random.next() * 16).toString(16)).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}
