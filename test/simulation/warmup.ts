import type { Ctx } from '../../domain/platform/kernel/context.ts';
import { recordWarmup } from '../../domain/mailboxes/warmup/record.ts';
import { startWarmup } from '../../domain/mailboxes/warmup/standing.ts';
import { advanceWarmup } from '../../domain/mailboxes/warmup/advance.ts';
import { AppError } from '../../lib/errors.ts';
import { seeded, type Random } from '../faults/random.ts';
import type { Company, Surroundings } from './company.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** Time (ms) between the sending and the reading of an email. */
const LANDS_AFTER_MS = 2 * MINUTE;

/**
 * Warms up all mailboxes of a simulated world, in addition to its campaigns, and checks both kinds of email together
 * against caps and gaps.
 */
export class WarmupCompany implements Company {
  /** Number of sent warmup emails. */
  sent = 0;
  readonly #random: Random;
  /** Wake-up time of each mailbox's workflow. */
  readonly #wakes = new Map<string, number>();
  readonly #landings: { at: number; land: () => Promise<void> }[] = [];
  /** Times of all emails of each mailbox, warmup and campaign. */
  readonly #left = new Map<number, number[]>();
  #world: Surroundings | undefined;
  #signalled = '0';
  #uid = 0;

  readonly #spamShare: number;

  /** @param spamShare share of the warmup emails that land in spam, 0 to 1 */
  constructor(seed: number, spamShare: number) {
    this.#random = seeded(seed).fork('warmup');
    this.#spamShare = spamShare;
  }

  async begin(world: Surroundings): Promise<void> {
    this.#world = world;
    const { ctx, db, built, spec } = world;
    await db('mailboxes')
      .whereIn('id', built.mailboxes)
      .update({
        imap: JSON.stringify({ host: '127.0.0.1', port: 1, username: 'm', security: 'none' }),
        warmup_days: 127,
        warmup_start_time: '06:00',
        warmup_end_time: '22:00',
        warmup_reply_rate: 60,
      });
    for (const [index, id] of built.mailboxes.entries()) {
      this.#left.set(index, [...spec.mailboxes[index]!.before]);
      // The call is refused for a mailbox that is on hold from the beginning; such a mailbox is not warmed up.
      const started = await startWarmup(ctx, id).catch((error: unknown) => {
        if (!(error instanceof AppError)) throw error;
      });
      if (started) this.#wakes.set(id, spec.from);
    }
  }

  nextAt(): number {
    return Math.min(...this.#wakes.values(), ...this.#landings.map(({ at }) => at));
  }

  async act(now: number): Promise<void> {
    const landing = this.#landings.find(({ at }) => at <= now);
    if (landing) {
      this.#landings.splice(this.#landings.indexOf(landing), 1);
      await landing.land();
      return this.#takeSignals(now);
    }
    const { ctx, smtp } = this.#world!;
    const [id] = [...this.#wakes].find(([, at]) => at <= now)!;
    const report = await advanceWarmup(ctx, smtp, id);
    this.#wakes.set(id, report.kind === 'done' ? Infinity : (report.wakeAt ?? Infinity));
  }

  /** Lets signalled workflows check again. */
  async #takeSignals(now: number): Promise<void> {
    const rows: { id: string; workflow_id: string }[] = await this.#world!
      .db('outbox')
      .where('id', '>', this.#signalled)
      .whereIn(
        'workflow_id',
        [...this.#wakes.keys()].map((id) => `warmup/${id}`),
      )
      .orderBy('id')
      .select('id', 'workflow_id');
    for (const { id, workflow_id: workflow } of rows) {
      this.#signalled = id;
      this.#wakes.set(workflow.split('/')[1]!, now);
    }
  }

  takes(mailbox: number, to: string, raw: Buffer, now: number): boolean {
    const partner = /^m(\d+)@sender\.example\.com$/.exec(to)?.[1];
    if (partner === undefined) {
      this.#judge(mailbox, now, 'campaign');
      return false;
    }
    this.sent += 1;
    this.#judge(mailbox, now, 'warmup');
    const folder = this.#random.next() < this.#spamShare ? 'Junk' : 'INBOX';
    const { ctx, built } = this.#world!;
    this.#landings.push({
      at: now + LANDS_AFTER_MS,
      land: () => this.#land(ctx, built.mailboxes[Number(partner)]!, raw, folder),
    });
    return true;
  }

  async #land(ctx: Ctx, mailboxId: string, raw: Buffer, folder: string): Promise<void> {
    const receivedAt = ctx.clock.now();
    await recordWarmup(ctx, { id: mailboxId }, raw, { folder, uidValidity: 1, uid: (this.#uid += 1), receivedAt });
  }

  /**
   * Checks the limits of a mailbox, which apply to both kinds of emails together. An email keeps its slot when a cap is
   * lowered or a gap is raised.
   */
  #judge(mailbox: number, now: number, kind: string): void {
    const { ledger, states } = this.#world!;
    const left = this.#left.get(mailbox)!;
    const known = states(mailbox);
    const cap = Math.max(...known.map((state) => state.cap));
    const gapMs = Math.min(...known.map((state) => state.gapSeconds)) * 1000;
    const today = left.filter((at) => Math.floor(at / DAY) === Math.floor(now / DAY)).length;
    if (today >= cap)
      ledger.fault(now, 'cap of both kinds', `mailbox ${mailbox}: ${kind} email ${today + 1} of ${cap}`);
    const last = left.at(-1);
    if (last !== undefined && now - last < gapMs)
      ledger.fault(now, 'gap of both kinds', `mailbox ${mailbox}: ${kind} email after ${now - last} of ${gapMs} ms`);
    left.push(now);
  }
}
