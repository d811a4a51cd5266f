import type { RawDb } from '../harness/database.ts';
import { dayOf, isOpenAt, local, matches, type Letter } from './ledger.ts';
import type { Outcome } from './run.ts';

const DAY = 86_400_000;
const MINUTE = 60_000;

/** An email that a lead was waiting for: from when on, and until when at most. */
interface Job {
  lead: number;
  campaign: number;
  step: number;
  from: number;
  until: number;
  /** The mailbox of its conversation; null may come from any that fits. */
  mailbox: number | null;
}

/**
 * How many emails the world had room for, by an allocator of its own: minute by minute, every mailbox that is free gives
 * the minute to the email that has the fewest other chances. It knows all arrivals and every rule, and shares no code
 * with the engine. Emails count as due when the engine's rows say their contact came to them.
 */
export async function couldHaveSent(db: RawDb, { spec, built, ledger, letters }: Outcome): Promise<number> {
  const jobs = await readJobs(db, { spec, built, ledger, letters });
  const zones = jobs.map((job) => spec.leads[job.lead]!.timezone);
  const free = spec.mailboxes.map(() => -Infinity);
  const mailboxDays = new Map<string, number>();
  const campaignDays = new Map<string, number>();
  const count = (map: Map<string, number>, key: string): number => map.get(key) ?? 0;
  const open = new Set(jobs.keys());
  let sent = 0;
  const ramps = new Map<string, number>();
  const ramp = (campaign: number, at: number, day: string): number => {
    if (!spec.campaigns[campaign]!.ramp) return Infinity;
    const key = `${campaign}/${day}`;
    if (!ramps.has(key)) ramps.set(key, ledger.rampAt(campaign, at));
    return ramps.get(key)!;
  };
  for (let at = Math.ceil(spec.from / MINUTE) * MINUTE; at < spec.until && open.size > 0; at += MINUTE) {
    const utcDay = Math.floor(at / DAY);
    const usable = spec.mailboxes
      .map((_, index) => index)
      .filter(
        (index) =>
          free[index]! <= at &&
          count(mailboxDays, `${index}/${utcDay}`) < spec.mailboxes[index]!.cap &&
          !spec.happenings.some(
            (one) => 'mailbox' in one && one.mailbox === index && one.at <= at && at < restsUntil(one.kind, one.until),
          ),
      );
    if (usable.length === 0) continue;
    const opened = spec.campaigns.map((rules, index) => isOpenAt(rules, at) && ledger.isActive(index, at));
    if (!opened.includes(true)) continue;
    const days = spec.campaigns.map((rules) => dayOf(rules, at));
    const ready = [...open].filter((index) => {
      const job = jobs[index]!;
      const hours = spec.campaigns[job.campaign]!.hours;
      return (
        opened[job.campaign] &&
        job.from <= at &&
        at < job.until &&
        (!hours || hours.includes(local(at, zones[index]!).hour))
      );
    });
    const fits = (job: Job, mailbox: number): boolean => {
      const rules = spec.campaigns[job.campaign]!;
      if (job.mailbox !== null) return job.mailbox === mailbox;
      if (rules.pool && !rules.pool.includes(mailbox)) return false;
      return rules.espMatch !== 'strict' || matches(spec.leads[job.lead]!.provider, spec.mailboxes[mailbox]!.provider);
    };
    const chances = (job: Job): number =>
      spec.mailboxes.filter((_, mailbox) => fits(job, mailbox)).length +
      (spec.campaigns[job.campaign]!.hours ? 0 : 0.5);
    ready.sort((a, b) => chances(jobs[a]!) - chances(jobs[b]!));
    const followUps = spec.campaigns.map(({ timezone }, campaign) => {
      const midnight = at + (1440 - local(at, timezone).minute) * MINUTE;
      return [...open].filter((index) => {
        const job = jobs[index]!;
        return job.campaign === campaign && job.step > 0 && job.from < midnight && at < job.until;
      }).length;
    });
    const hasRoom = (job: Job, mailbox: number): boolean => {
      const { campaign } = job;
      const rules = spec.campaigns[campaign]!;
      const { cap } = spec.mailboxes[mailbox]!;
      const day = days[campaign]!;
      // New leads leave follow-ups of the day their share, unless the campaign puts them first.
      const kept = job.step > 0 || rules.prioritizeNew ? 0 : followUps[campaign]!;
      return (
        fits(job, mailbox) &&
        free[mailbox]! <= at &&
        count(mailboxDays, `${mailbox}/${utcDay}`) < cap &&
        count(campaignDays, `${campaign}/${day}`) + kept < ledger.limitAt(campaign, at) &&
        (job.step > 0 ||
          rules.maxNewPerDay === 0 ||
          count(campaignDays, `new/${campaign}/${day}`) < rules.maxNewPerDay) &&
        count(campaignDays, `${campaign}/${mailbox}/${day}`) < Math.min(cap, ramp(campaign, at, day))
      );
    };
    for (const index of ready) {
      const job = jobs[index]!;
      // Preference and rotation are rules as well: a provider that matches, then the mailbox that has sent least.
      const rank = (one: number): number =>
        (spec.campaigns[job.campaign]!.espMatch === 'prefer' &&
        spec.leads[job.lead]!.provider !== '' &&
        !matches(spec.leads[job.lead]!.provider, spec.mailboxes[one]!.provider)
          ? 1000
          : 0) + count(mailboxDays, `${one}/${utcDay}`);
      const [mailbox] = usable.filter((one) => hasRoom(job, one)).sort((a, b) => rank(a) - rank(b));
      if (mailbox === undefined) continue;
      open.delete(index);
      sent += 1;
      free[mailbox] = at + spec.mailboxes[mailbox]!.gapSeconds * 1000;
      const day = days[job.campaign]!;
      const own = `${job.campaign}/${mailbox}/${day}`;
      for (const [map, key] of [
        [mailboxDays, `${mailbox}/${utcDay}`],
        [campaignDays, `${job.campaign}/${day}`],
        [campaignDays, own],
        ...(job.step === 0 ? [[campaignDays, `new/${job.campaign}/${day}`] as const] : []),
      ] as const)
        map.set(key, count(map, key) + 1);
    }
  }
  return sent;
}

/** Emails that failed to leave are tried again later: a minute's outage costs a few. */
function restsUntil(kind: string, until: number): number {
  // A refused password or server is looked at again with the wait of a deferral.
  return kind === 'outage' ? until + 64 * MINUTE : until;
}

async function readJobs(
  db: RawDb,
  { spec, built, ledger, letters }: Pick<Outcome, 'spec' | 'built' | 'ledger' | 'letters'>,
): Promise<Job[]> {
  const rows = (await db('enrollments as e')
    .leftJoin('step_runs as r', 'r.enrollment_id', 'e.id')
    .where('e.organization_id', built.organizationId)
    .select('e.id', 'e.state', 'e.hold_since', 'e.finished_at', 'r.step_id', 'r.started_at')) as Record<string, any>[];
  const jobs: Job[] = [];
  for (const [lead, { enrollment, at, campaign: campaignId }] of built.leads.entries()) {
    const own = rows.filter((row) => row.id === enrollment);
    if (own.length === 0) continue;
    const campaign = spec.leads[lead]!.campaign;
    const rules = spec.campaigns[campaign]!;
    const sentOf = (step: number): Letter | undefined =>
      letters.find((letter) => letter.lead === lead && letter.step === step);
    const left = ledger.leftAt(lead);
    const held = spec.happenings.find((one) => one.kind === 'holdLead' && one.lead === lead)?.at ?? Infinity;
    const until = own[0]!.state === 'failed' ? 0 : Math.min(left, held);
    const steps = built.campaigns.find(({ id }) => id === campaignId)!.steps;
    jobs.push({ lead, campaign, step: 0, from: at + rules.entryDelayMinutes * MINUTE, until, mailbox: null });
    for (const [place, step] of rules.steps.entries()) {
      if (step.kind !== 'email') continue;
      const run = own.find((row) => row.step_id === steps[place + 1]);
      const first = sentOf(0);
      if (!run || !first) continue;
      const from = run.started_at.getTime() + step.waitDays * DAY;
      jobs.push({ lead, campaign, step: place + 1, from, until, mailbox: first.mailbox });
    }
  }
  // Who left after being mailed was mailed: those emails count for both sides.
  return jobs.map((job) => ({ ...job, until: Math.max(job.until, sentAfter(letters, job)) }));
}

function sentAfter(letters: readonly Letter[], job: Job): number {
  const letter = letters.find(({ lead, step }) => lead === job.lead && step === job.step);
  return letter ? letter.at + 1 : 0;
}
