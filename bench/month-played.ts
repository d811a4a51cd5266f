import type { CampaignSpec, Happening, LeadSpec, MailboxSpec, WorldSpec } from '../test/simulation/draw.ts';
import { roomOf } from '../test/simulation/oracle.ts';
import { playWorld, type Outcome } from '../test/simulation/run.ts';
import { seeded, type Random } from '../test/faults/random.ts';
import type { BenchContext, BenchResult } from './context.ts';
import { timed } from './measure.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Start of the month. Clocks change in America on its fourth day, in Europe on its twenty-fifth. */
const FROM = Date.parse('2026-03-05T00:00:00Z');
const DAYS = 30;
/**
 * Time (ms) after which no further day is played. After the same time, the oracle stops trying further orders of
 * emails.
 */
const PLAY_MS = 9 * MINUTE;
const ALL_MS = 12 * MINUTE;
/** Share of the oracle's emails that the engine should send. */
const SHARE = 0.97;

/**
 * Simulates thirty days of a workspace, email by email, with the engine's functions and a simulated clock. Checks every
 * rule every hour, and measures the share of the capacity that is used. A slow machine plays fewer days.
 */
export async function run(context: BenchContext): Promise<BenchResult> {
  const size = context.quick ? { mailboxes: 4, leads: 100 } : { mailboxes: 24, leads: 1_200 };
  // Stops the stack's worker, whose launchers and relay would interfere.
  await context.stack.processes.worker.stop();
  const spec = drawMonth(1, size);
  const { deps } = context.assembly;
  let outcome: Outcome | undefined;
  const begunAt = performance.now();
  const isWithin = (ms: number): boolean => performance.now() - begunAt < ms;
  const playedMs = await timed(
    async () =>
      (outcome = await playWorld(deps, spec, undefined, (day, emails) => {
        context.log(`day ${day} of ${DAYS} is over, ${emails} emails`);
        return isWithin(PLAY_MS);
      })),
  );
  const { emails, faults, turns } = outcome!;
  context.log(`${emails.length} emails in ${(playedMs / 1000).toFixed(0)} s, ${faults.length} faults`);
  let could = 0;
  const oracleMs = await timed(() => {
    could = roomOf(outcome!, SHARE, () => isWithin(ALL_MS));
    return Promise.resolve();
  });
  context.log(`the oracle sent ${could}, in ${(oracleMs / 1000).toFixed(0)} s`);
  const share = emails.length / could;
  const days = Math.ceil((outcome!.spec.until - FROM) / DAY);
  const each = playedMs / emails.length;
  // Number of emails at full size: 10,000 mailboxes send 30 emails a day for 30 days.
  const full = 10_000 * 30 * DAYS;
  return {
    figures: [
      {
        label: `the world`,
        value: `${days} of ${DAYS} days, ${size.mailboxes} mailboxes, ${spec.campaigns.length} campaigns in ${new Set(spec.campaigns.map(({ timezone }) => timezone)).size} time zones, ${size.leads} leads, ${spec.happenings.length} happenings`,
      },
      { label: 'emails sent, and what the oracle sent', value: `${emails.length}, ${could}` },
      {
        label: 'turns of launchers and runs',
        value: `${turns.launcher} and ${turns.run}, ${((turns.launcher + turns.run) / emails.length).toFixed(1)} per email`,
      },
      { label: 'time to play it', value: `${(playedMs / 1000).toFixed(0)} s, ${each.toFixed(0)} ms per email` },
      {
        label: `not played: 10,000 mailboxes and 1,000,000 leads for ${DAYS} days`,
        value: `up to ${(full / 1e6).toFixed(0)} million emails at 30 a day from each mailbox: at ${each.toFixed(0)} ms per email ${((full * each) / HOUR).toFixed(0)} hours`,
      },
    ],
    targets: [
      {
        what: 'emails sent against the oracle',
        target: `>= ${SHARE * 100} %`,
        got: `${(share * 100).toFixed(1)} %`,
        met: share >= SHARE,
      },
      {
        what: 'rules broken (caps, gaps, windows, ramps, dates, threads, states, counters), looked at for every email and hour',
        target: '0',
        got: String(faults.length),
        met: faults.length === 0,
      },
    ],
    raw: {
      seed: spec.seed,
      faults: faults.slice(0, 50),
      perDay: Array.from(
        { length: DAYS },
        (_, day) => emails.filter(({ at }) => Math.floor((at - FROM) / DAY) === day).length,
      ),
    },
  };
}

/** Creates a random month: four campaigns of different kinds share the mailboxes, and incidents happen every day. */
function drawMonth(seed: number, { mailboxes: many, leads: people }: { mailboxes: number; leads: number }): WorldSpec {
  const random = seeded(seed);
  const whole = (from: number, to: number): number => Math.floor(random.between(from, to + 1));
  const mailboxes = Array.from({ length: many }, (): MailboxSpec => ({
    cap: whole(4, 10),
    gapSeconds: random.pick([60, 600, 1800, 5400]),
    provider: random.pick(['gmail', 'outlook', 'smtp_imap']),
    before: [],
    restsUntil: null,
  }));
  const campaigns = drawCampaigns(many, random);
  const leads = Array.from({ length: people }, (): LeadSpec => ({
    campaign: whole(0, campaigns.length - 1),
    at: random.next() < 0.5 ? FROM : Math.floor(random.between(FROM, FROM + (DAYS - 6) * DAY)),
    timezone: random.pick(['UTC', 'Europe/Budapest', 'America/New_York', 'Asia/Tokyo']),
    provider: random.pick(['', 'gmail', 'outlook', 'other']),
    gone: false,
  }));
  const happenings = drawHappenings(random, whole, { mailboxes: many, campaigns: campaigns.length, leads: people });
  return { seed, from: FROM, until: FROM + DAYS * DAY, mailboxes, campaigns, leads, happenings };
}

function drawCampaigns(mailboxes: number, random: Random): CampaignSpec[] {
  const common: CampaignSpec = {
    timezone: 'Europe/Budapest',
    days: 0b0011111,
    windows: [['09:00', '17:00']],
    startsAt: null,
    endsAt: null,
    dailyLimit: 1_000,
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
    steps: [{ kind: 'email', waitDays: 3, thread: true, onlyIf: null }],
  };
  return [
    { ...common, ramp: { start: 1, increment: 1, ceiling: 8 } },
    {
      ...common,
      timezone: 'America/New_York',
      espMatch: 'prefer',
      steps: [
        { kind: 'wait', minutes: 700 },
        { kind: 'email', waitDays: 2, thread: true, onlyIf: null },
      ],
    },
    {
      ...common,
      timezone: 'Australia/Sydney',
      days: 127,
      windows: [['08:30', '20:00']],
      entryDelayMinutes: 90,
      pool: Array.from({ length: mailboxes }, (_, index) => index).filter(() => random.next() < 0.6),
    },
    {
      ...common,
      timezone: 'UTC',
      windows: [['00:00', '00:00']],
      hours: [9, 10, 11, 14, 15, 16],
      dailyLimit: mailboxes,
      maxNewPerDay: mailboxes,
    },
  ];
}

function drawHappenings(
  random: Random,
  whole: (from: number, to: number) => number,
  { mailboxes, campaigns, leads }: { mailboxes: number; campaigns: number; leads: number },
): Happening[] {
  const happenings: Happening[] = [];
  for (let day = 0; day < DAYS; day += 1) {
    const when = (): number => FROM + day * DAY + Math.floor(random.next() * DAY);
    const mailbox = (): number => whole(0, mailboxes - 1);
    const held = when();
    happenings.push({ at: held, kind: 'hold', mailbox: mailbox(), until: held + whole(1, 20) * HOUR });
    const out = when();
    happenings.push({ at: out, kind: 'outage', mailbox: mailbox(), until: out + whole(1, 40) * MINUTE });
    const wrong = when();
    if (day % 5 === 1)
      happenings.push({ at: wrong, kind: 'password', mailbox: mailbox(), until: wrong + whole(1, 10) * HOUR });
    const paused = when();
    const campaign = whole(0, campaigns - 1);
    if (day % 7 === 3)
      happenings.push(
        { at: paused, kind: 'pause', campaign },
        { at: paused + whole(1, 12) * HOUR, kind: 'resume', campaign },
      );
    for (let n = leads / 300; n > 0; n -= 1)
      happenings.push({
        at: when(),
        kind: random.pick(['reply', 'reply', 'unsubscribe', 'suppress', 'remove', 'holdLead']),
        lead: whole(0, leads - 1),
      });
  }
  return happenings.sort((a, b) => a.at - b.at);
}
