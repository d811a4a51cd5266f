import type { CampaignSpec, LeadSpec, MailboxSpec, WorldSpec } from './draw.ts';

const DAY = 86_400_000;

/** Properties of a handwritten world that a test specifies; all others have simple defaults. */
interface Particulars {
  seed: number;
  /** Start of the world (epoch ms). */
  from: number;
  days: number;
  mailboxes: Partial<MailboxSpec>[];
  campaigns: Partial<CampaignSpec>[];
  leads: Partial<LeadSpec>[];
  happenings?: WorldSpec['happenings'];
}

/**
 * Creates a handwritten world. Its mailboxes have capacity and no gaps, its campaigns are always open, and its leads
 * are added at the beginning.
 */
export function plainWorld({ seed, from, days, mailboxes, campaigns, leads, happenings = [] }: Particulars): WorldSpec {
  return {
    seed,
    from,
    until: from + days * DAY,
    mailboxes: mailboxes.map((mailbox) => ({
      cap: 100,
      gapSeconds: 0,
      provider: 'smtp_imap',
      before: [],
      restsUntil: null,
      ...mailbox,
    })),
    campaigns: campaigns.map((campaign) => ({
      timezone: 'UTC',
      days: 127,
      windows: [['00:00', '00:00']],
      startsAt: null,
      endsAt: null,
      dailyLimit: 100,
      maxNewPerDay: 0,
      ramp: null,
      espMatch: 'off',
      hours: null,
      weekends: true,
      entryDelayMinutes: 0,
      prioritizeNew: false,
      pool: null,
      poolBy: 'senders',
      begin: null,
      steps: [],
      ...campaign,
    })),
    leads: leads.map((lead) => ({ campaign: 0, at: from, timezone: 'UTC', provider: '', gone: false, ...lead })),
    happenings: happenings.toSorted((a, b) => a.at - b.at),
  };
}
