import { seeded } from '../faults/random.ts';
import type { AppAnswer, CampaignSpec, Happening, LeadSpec, MailboxSpec, StepSpec, WorldSpec } from './draw.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Adds rarer properties to a random world: many mailboxes, some with earlier emails or on hold, several windows per
 * day, pools by tag, branches, apps, no weekends. Campaigns may begin with a wait or an event. If `busy`, it also adds
 * events: edits of campaigns and mailboxes, disabled or removed mailboxes, addresses that do not exist, opens,
 * out-of-office notices, and replies to earlier emails.
 */
export function widenWorld(world: WorldSpec, busy: boolean): WorldSpec {
  const random = seeded(world.seed).fork('wide');
  const whole = (from: number, to: number): number => Math.floor(random.between(from, to + 1));
  const chance = (share: number): boolean => random.next() < share;
  const { from, until } = world;

  const more = chance(0.1) ? whole(4, 10) : 0;
  const mailboxes: MailboxSpec[] = [
    ...world.mailboxes.map((mailbox): MailboxSpec => {
      const before = chance(0.15)
        ? Array.from({ length: whole(1, mailbox.cap) }, (_, n) => from - (whole(1, 60) + n * 90) * MINUTE).reverse()
        : [];
      return { ...mailbox, before, restsUntil: chance(0.08) ? from + whole(1, 30) * HOUR : null };
    }),
    ...Array.from({ length: more }, (): MailboxSpec => ({
      cap: whole(1, 3),
      gapSeconds: random.pick([60, 1800, 5400]),
      provider: random.pick(['gmail', 'outlook', 'smtp_imap']),
      before: [],
      restsUntil: null,
    })),
  ];
  const campaigns = world.campaigns.map((campaign): CampaignSpec => {
    const [first] = campaign.windows;
    const follow = campaign.steps.at(-1);
    return {
      ...campaign,
      windows:
        !campaign.hours && first?.[0] === '09:00' && chance(0.5)
          ? [
              ['08:00', '11:30'],
              ['13:00', '16:15'],
            ]
          : campaign.windows,
      poolBy: campaign.pool && chance(0.4) ? 'tags' : 'senders',
      weekends: !(campaign.hours && campaign.days === 127 && chance(0.4)),
      begin: chance(0.12)
        ? { kind: 'wait', minutes: whole(10, 900) }
        : busy && chance(0.05)
          ? { kind: 'event', name: 'signed-up', timeoutMinutes: whole(30, 600) }
          : null,
      steps:
        follow?.kind === 'email' && campaign.steps.length === 1 && chance(0.3)
          ? [
              { ...follow, onlyIf: busy ? ('opened' as const) : null },
              { kind: 'email', waitDays: whole(0, 1), thread: chance(0.5), onlyIf: null },
            ]
          : campaign.steps,
    };
  });
  const leads = world.leads.map((lead): LeadSpec => ({ ...lead, gone: busy && chance(0.04) }));
  const happenings = [...world.happenings];
  if (busy) {
    const when = (): number => Math.floor(random.between(from + HOUR, until - HOUR));
    for (let n = whole(0, 4); n > 0; n -= 1) {
      const at = when();
      const mailbox = whole(0, mailboxes.length - 1);
      const campaign = whole(0, campaigns.length - 1);
      happenings.push(
        ...random.pick<() => Happening[]>([
          () => [{ at, kind: 'cap', mailbox, cap: whole(1, 8) }],
          () => [{ at, kind: 'gap', mailbox, gapSeconds: random.pick([0, 300, 3600]) }],
          () => [
            { at, kind: 'off', mailbox },
            { at: at + whole(1, 20) * HOUR, kind: 'on', mailbox },
          ],
          () => [{ at, kind: 'removeMailbox', mailbox }],
          () => [{ at, kind: 'holdReading', mailbox, until: at + whole(1, 12) * HOUR }],
          () => [
            {
              at,
              kind: 'window',
              campaign,
              window: random.pick([
                ['10:00', '15:00'],
                ['00:00', '00:00'],
                ['18:00', '02:00'],
              ]),
            },
          ],
          () => [{ at, kind: 'wait', campaign, waitDays: whole(0, 1) }],
          () => [{ at, kind: 'pool', campaign, pool: mailboxes.map((_, index) => index).filter(() => chance(0.7)) }],
        ])(),
      );
    }
    for (let n = Math.ceil(leads.length / 3); n > 0; n -= 1)
      happenings.push({ at: when(), kind: 'open', lead: whole(0, leads.length - 1) });
    // Leads that a person puts on hold. They get no out-of-office notice, because the person's decision would have
    // priority.
    const held = new Set(happenings.flatMap((one) => (one.kind === 'holdLead' ? [one.lead] : [])));
    for (let n = Math.ceil(leads.length / 4); n > 0; n -= 1) {
      const [at, lead] = [when(), whole(0, leads.length - 1)];
      const returns = new Date(at + whole(0, 2) * DAY).toISOString().slice(0, 10);
      if (chance(0.25)) happenings.push({ at, kind: 'replyToFirst', lead });
      else if (!held.has(lead)) happenings.push({ at, kind: 'away', lead, returns });
    }
  }
  return addReactions({ ...world, mailboxes, campaigns, leads, happenings }, busy);
}

/**
 * Adds branches on clicks and replies in addition to those on opens, and app calls between emails or before the first.
 */
function addReactions(world: WorldSpec, busy: boolean): WorldSpec {
  const random = seeded(world.seed).fork('reactions');
  const whole = (from: number, to: number): number => Math.floor(random.between(from, to + 1));
  const chance = (share: number): boolean => random.next() < share;
  const onError = (): 'continue' | 'block' => (chance(0.5) ? 'continue' : 'block');
  const campaigns = world.campaigns.map((campaign): CampaignSpec => {
    const steps = campaign.steps.map((step): StepSpec =>
      step.kind === 'email' && step.onlyIf ? { ...step, onlyIf: random.pick(['opened', 'clicked', 'replied']) } : step,
    );
    const asks = steps.length > 0 && !isBranched(steps) && chance(0.25);
    const begins = !campaign.begin && !campaign.ramp && chance(0.06);
    return {
      ...campaign,
      steps: asks ? [{ kind: 'app', onError: onError() }, ...steps] : steps,
      begin: begins ? { kind: 'app', onError: onError() } : campaign.begin,
    };
  });
  const leads = world.leads.map((lead): LeadSpec => ({
    ...lead,
    app: random.pick<() => AppAnswer>([
      () => ({ kind: 'ok' }),
      () => ({ kind: 'ok' }),
      () => ({ kind: 'refuses' }),
      () => ({ kind: random.pick(['fails', 'hangs']), times: whole(1, 6) }),
      () => ({ kind: 'late', ms: whole(1, 20) * 1000 }),
    ])(),
  }));
  const replies = (lead: number): boolean =>
    campaigns[leads[lead]!.campaign]!.steps.some((step) => step.kind === 'email' && step.onlyIf === 'replied');
  // Drops out-of-office notices of these leads: a reply may end the hold of a notice, so the hold would not depend on
  // time alone.
  const happenings = world.happenings.filter((one) => one.kind !== 'away' || !replies(one.lead));
  if (busy)
    for (let n = Math.ceil(leads.length / 2); n > 0; n -= 1) {
      const lead = whole(0, leads.length - 1);
      const at = Math.floor(random.between(world.from + HOUR, world.until - HOUR));
      if (replies(lead)) happenings.push({ at, kind: 'reply', lead });
      else happenings.push({ at, kind: 'click', lead });
    }
  return { ...world, campaigns, leads, happenings: happenings.sort((a, b) => a.at - b.at) };
}

function isBranched(steps: readonly StepSpec[]): boolean {
  return steps.some((step) => step.kind === 'email' && step.onlyIf !== null);
}
