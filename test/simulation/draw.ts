import { seeded, type Random } from '../faults/random.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Time (ms) for which a person puts a lead on hold. */
export const HOLD_LEAD_MS = 5 * HOUR;

/** Mailbox of a random world. */
export interface MailboxSpec {
  /** Maximum number of campaign emails per UTC day. */
  cap: number;
  gapSeconds: number;
  provider: 'gmail' | 'outlook' | 'smtp_imap';
  /** Times (epoch ms, ascending) of the emails sent before the world began. */
  before: number[];
  /** End (epoch ms) of a hold that begins with the world; null without one. */
  restsUntil: number | null;
}

/** Reaction of a recipient to an email. */
export type Reaction = 'opened' | 'clicked' | 'replied';

/**
 * Response of an app to a lead: at once, or with a refusal (400 or a redirect). It can also come after failures (503 or
 * 429), timeouts or a delay (ms). If there are more failures than attempts, the call gets no answer.
 */
export type AppAnswer =
  | { kind: 'ok' | 'refuses' }
  | { kind: 'fails' | 'hangs'; times: number }
  | { kind: 'late'; ms: number };

/** Step after the first email. */
export type StepSpec =
  /** With `onlyIf`, a lead that has not reacted like this to the previous email when the step is due has finished. */
  | { kind: 'email'; waitDays: number; thread: boolean; onlyIf: Reaction | null }
  /** Calls an app; if the call fails, the lead continues or is blocked. */
  | { kind: 'app'; onError: 'continue' | 'block' }
  | { kind: 'wait'; minutes: number }
  | { kind: 'event'; name: string; timeoutMinutes: number };

type Window = [from: string, to: string];

/** Campaign of a random world. */
export interface CampaignSpec {
  timezone: string;
  /** Days as bits; bit 0 is Monday. */
  days: number;
  /** Start and end (HH:MM) of windows on each of the days; equal times mean the whole day. */
  windows: Window[];
  startsAt: number | null;
  endsAt: number | null;
  dailyLimit: number;
  /** Maximum number of new leads per day; 0 means no limit. */
  maxNewPerDay: number;
  ramp: { start: number; increment: number; ceiling: number } | null;
  espMatch: 'off' | 'prefer' | 'strict';
  /** Preferred hours of send-time optimization; null if it is off. */
  hours: number[] | null;
  /** True if the preferred hours include those of weekends. */
  weekends: boolean;
  entryDelayMinutes: number;
  prioritizeNew: boolean;
  /** Indexes of the mailboxes in the campaign's pool; null if all mailboxes send. */
  pool: number[] | null;
  poolBy: 'senders' | 'tags';
  /** Step before the first email; null if there is none. */
  begin: Exclude<StepSpec, { kind: 'email' }> | null;
  /** Steps after the first email. */
  steps: StepSpec[];
}

/** Contact that is added to a campaign. */
export interface LeadSpec {
  campaign: number;
  /** Time (epoch ms) at which the lead is added. */
  at: number;
  timezone: string;
  /** Provider family of the address; empty if unknown. */
  provider: '' | 'gmail' | 'outlook' | 'other';
  /** True if the address does not exist. */
  gone: boolean;
  /** Answer of the app to this lead. Default: an immediate answer. */
  app?: AppAnswer;
}

/** Event in a running world, with its time (epoch ms). */
export type Happening = { at: number } & (
  | { kind: 'hold' | 'holdReading' | 'outage' | 'password'; mailbox: number; until: number }
  /** No worker runs until `until`. Launchers, workflows and deliveries then continue. */
  | { kind: 'absence'; until: number }
  | { kind: 'off' | 'on' | 'removeMailbox'; mailbox: number }
  | { kind: 'cap'; mailbox: number; cap: number }
  | { kind: 'gap'; mailbox: number; gapSeconds: number }
  | { kind: 'pause' | 'resume'; campaign: number }
  | { kind: 'limit'; campaign: number; dailyLimit: number }
  | { kind: 'window'; campaign: number; window: Window }
  | { kind: 'wait'; campaign: number; waitDays: number }
  | { kind: 'pool'; campaign: number; pool: number[] }
  /** An out-of-office notice arrives, with a day of return (YYYY-MM-DD). */
  | { kind: 'away'; lead: number; returns: string }
  /** `replyToFirst` is a reply to the first email, even if others have followed. */
  | {
      kind: 'open' | 'click' | 'reply' | 'replyToFirst' | 'unsubscribe' | 'suppress' | 'remove' | 'event' | 'holdLead';
      lead: number;
    }
);

/** Complete specification of a world: its objects and its events. The same seed gives the same world. */
export interface WorldSpec {
  seed: number;
  /** Start of the simulated world (epoch ms), always on the hour. */
  from: number;
  until: number;
  mailboxes: MailboxSpec[];
  campaigns: CampaignSpec[];
  leads: LeadSpec[];
  happenings: Happening[];
}

const ZONES = [
  'UTC',
  'Europe/Budapest',
  'America/New_York',
  'America/Los_Angeles',
  'Australia/Sydney',
  'Asia/Kolkata',
  'Asia/Tokyo',
  'Pacific/Auckland',
];

// First days of worlds: some near clock changes in Europe, America or Australia, some ordinary.
const STARTS = ['2026-03-05', '2026-03-26', '2026-04-02', '2026-06-10', '2026-10-01', '2026-10-23', '2026-10-30'];

/** Creates a small random world. With `busy` it contains events; otherwise it only sends. */
export function drawWorld(seed: number, busy: boolean): WorldSpec {
  const random = seeded(seed);
  const whole = (from: number, to: number): number => Math.floor(random.between(from, to + 1));
  const from = Date.parse(`${random.pick(STARTS)}T00:00:00Z`) + whole(0, 23) * HOUR;
  const until = from + whole(2, 4) * DAY;
  const mailboxes = Array.from({ length: whole(1, 4) }, (): MailboxSpec => ({
    cap: whole(2, 6),
    gapSeconds: random.pick([0, 60, 600, 600, 1800, 5400]),
    provider: random.pick(['gmail', 'outlook', 'smtp_imap']),
    before: [],
    restsUntil: null,
  }));
  const campaigns = Array.from({ length: whole(1, 3) }, () =>
    drawCampaign(random, whole, mailboxes, from, until, busy),
  );
  const capacity = mailboxes.reduce((sum, { cap }) => sum + cap, 0) * ((until - from) / DAY);
  const leads = Array.from({ length: Math.ceil(capacity * random.pick([0.4, 0.8, 1.3])) }, (): LeadSpec => ({
    campaign: whole(0, campaigns.length - 1),
    at: random.next() < 0.6 ? from : Math.floor(random.between(from, until - 6 * HOUR)),
    timezone: random.pick(ZONES),
    provider: random.pick(['', 'gmail', 'outlook', 'other']),
    gone: false,
  }));
  const happenings = busy ? drawHappenings(random, whole, { from, until, mailboxes, campaigns, leads }) : [];
  if (busy) happenings.push(...drawAbsences(seed, from, until));
  happenings.sort((a, b) => a.at - b.at);
  return { seed, from, until, mailboxes, campaigns, leads, happenings };
}

/**
 * Creates a random world for estimates: one campaign with one email, all leads are added at the beginning, and there
 * are no events. Its mailboxes may have sent before and may be on hold.
 */
export function drawPlainWorld(seed: number): WorldSpec {
  const random = seeded(seed).fork('plain');
  const whole = (from: number, to: number): number => Math.floor(random.between(from, to + 1));
  const chance = (share: number): boolean => random.next() < share;
  const from = Date.parse(`${random.pick(STARTS)}T00:00:00Z`) + whole(0, 23) * HOUR + whole(0, 59) * MINUTE;
  const until = from + whole(3, 5) * DAY;
  const mailboxes = Array.from({ length: whole(1, 5) }, (): MailboxSpec => {
    const gapSeconds = random.pick([0, 60, 600, 1800, 5400, 4 * 3600]);
    const cap = whole(1, 8);
    const before: number[] = [];
    const latest = from - whole(1, 3 * 60) * MINUTE;
    if (chance(0.4))
      for (let n = whole(1, cap); n > 0; n -= 1) before.push(latest - (n - 1) * Math.max(gapSeconds * 1000, MINUTE));
    const restsUntil = chance(0.15) ? from + whole(1, 40) * HOUR : null;
    return { cap, gapSeconds, provider: 'smtp_imap', before, restsUntil };
  });
  const [start, end] = random.pick([
    ['09:00', '17:00'],
    ['09:00', '17:00'],
    ['00:00', '00:00'],
    ['08:30', '11:00'],
    ['22:00', '04:00'],
  ] as const);
  const pool = chance(0.3) ? mailboxes.map((_, index) => index).filter(() => chance(0.6)) : [];
  const campaign: CampaignSpec = {
    timezone: random.pick(ZONES),
    days: chance(0.6) ? 127 : 0b0011111,
    windows: [[start, end]],
    startsAt: chance(0.2) ? from + whole(1, 30) * HOUR : null,
    endsAt: null,
    dailyLimit: chance(0.6) ? whole(1, 14) : 50,
    maxNewPerDay: 0,
    ramp: chance(0.3) ? { start: whole(1, 2), increment: whole(1, 3), ceiling: whole(0, 6) } : null,
    espMatch: 'off',
    hours: null,
    weekends: true,
    entryDelayMinutes: 0,
    prioritizeNew: chance(0.5),
    pool: pool.length > 0 ? pool : null,
    poolBy: 'senders',
    begin: null,
    steps: [],
  };
  const capacity = mailboxes.reduce((sum, { cap }) => sum + cap, 0) * ((until - from) / DAY);
  const leads = Array.from(
    { length: Math.ceil(Math.min(capacity, 60) * random.pick([0.3, 0.6, 1.3])) },
    (): LeadSpec => ({
      campaign: 0,
      at: from,
      timezone: 'UTC',
      provider: '',
      gone: false,
    }),
  );
  // Ids are derived from the seed, so an offset is added to avoid the ids of other worlds.
  return { seed: seed + 1_000_000, from, until, mailboxes, campaigns: [campaign], leads, happenings: [] };
}

function drawCampaign(
  random: Random,
  whole: (from: number, to: number) => number,
  mailboxes: readonly MailboxSpec[],
  from: number,
  until: number,
  busy: boolean,
): CampaignSpec {
  const chance = (share: number): boolean => random.next() < share;
  const optimized = chance(0.2);
  const [start, end] = optimized
    ? ['00:00', '00:00']
    : random.pick([
        ['09:00', '17:00'],
        ['00:00', '00:00'],
        ['08:30', '11:00'],
        ['22:00', '04:00'],
        ['06:00', '21:30'],
      ] as const);
  const steps: StepSpec[] = [];
  if (chance(0.5)) {
    if (busy && chance(0.3)) steps.push({ kind: 'wait', minutes: whole(1, 2000) });
    if (busy && chance(0.3)) steps.push({ kind: 'event', name: 'signed-up', timeoutMinutes: whole(60, 1440) });
    steps.push({ kind: 'email', waitDays: whole(0, 1), thread: chance(0.7), onlyIf: null });
  }
  const pool = chance(0.3) ? mailboxes.map((_, index) => index).filter(() => chance(0.6)) : null;
  return {
    timezone: random.pick(ZONES),
    days: chance(0.7) ? 127 : 0b0011111,
    windows: [[start, end]],
    startsAt: chance(0.15) ? from + whole(1, 30) * HOUR : null,
    endsAt: chance(0.1) ? until - whole(1, 30) * HOUR : null,
    dailyLimit: chance(0.4) ? whole(2, 10) : 50,
    maxNewPerDay: chance(0.2) ? whole(1, 5) : 0,
    ramp: chance(0.2) ? { start: whole(1, 2), increment: whole(1, 3), ceiling: whole(4, 8) } : null,
    espMatch: random.pick(['off', 'off', 'off', 'prefer', 'strict']),
    hours: optimized ? [9, 10, 11, 14, 15, 16] : null,
    weekends: true,
    entryDelayMinutes: chance(0.2) ? whole(1, 600) : 0,
    prioritizeNew: chance(0.3),
    pool: pool && pool.length > 0 ? pool : null,
    poolBy: 'senders',
    begin: null,
    steps,
  };
}

function drawHappenings(
  random: Random,
  whole: (from: number, to: number) => number,
  { from, until, mailboxes, campaigns, leads }: Omit<WorldSpec, 'seed' | 'happenings'>,
): Happening[] {
  const when = (): number => Math.floor(random.between(from + HOUR, until - HOUR));
  const happenings: Happening[] = [];
  for (let n = whole(1, 6); n > 0; n -= 1) {
    const at = when();
    const mailbox = whole(0, mailboxes.length - 1);
    const campaign = whole(0, campaigns.length - 1);
    const lead = whole(0, leads.length - 1);
    switch (random.pick(['hold', 'outage', 'password', 'pause', 'limit', 'lead', 'lead', 'lead'] as const)) {
      case 'hold':
        happenings.push({ at, kind: 'hold', mailbox, until: at + whole(1, 20) * HOUR });
        break;
      case 'outage':
        happenings.push({ at, kind: 'outage', mailbox, until: at + whole(1, 40) * MINUTE });
        break;
      case 'password':
        happenings.push({ at, kind: 'password', mailbox, until: at + whole(1, 10) * HOUR });
        break;
      case 'pause':
        happenings.push({ at, kind: 'pause', campaign }, { at: at + whole(1, 12) * HOUR, kind: 'resume', campaign });
        break;
      case 'limit':
        happenings.push({ at, kind: 'limit', campaign, dailyLimit: whole(3, 20) });
        break;
      case 'lead':
        happenings.push({
          at,
          kind: random.pick(['reply', 'unsubscribe', 'suppress', 'remove', 'event', 'holdLead']),
          lead,
        });
        break;
    }
  }
  return happenings;
}

/** Returns a few absences of the worker, of some minutes each. Only every second world has any. */
function drawAbsences(seed: number, from: number, until: number): Happening[] {
  const random = seeded(seed).fork('absences');
  const times = Math.max(0, Math.floor(random.between(-3, 4)));
  return Array.from({ length: times }, (): Happening => {
    const at = Math.floor(random.between(from + HOUR, until - HOUR));
    return { at, kind: 'absence', until: at + Math.floor(random.between(1, 12) * MINUTE) };
  });
}
