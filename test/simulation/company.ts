import type { Ctx } from '../../domain/platform/kernel/context.ts';
import type { SmtpSender } from '../../lib/smtp/index.ts';
import type { TestDeps } from '../harness/database.ts';
import type { Built } from './build.ts';
import type { WorldSpec } from './draw.ts';
import type { Ledger, MailboxState } from './ledger.ts';

/** Access to a simulated world for a {@link Company}. */
export interface Surroundings {
  ctx: Ctx;
  db: TestDeps['db'];
  smtp: SmtpSender;
  spec: WorldSpec;
  built: Built;
  ledger: Ledger;
  /** All states of a mailbox so far, by its index. */
  states(mailbox: number): readonly MailboxState[];
}

/** Sender of other emails through the mailboxes of a world, such as warmup. */
export interface Company {
  begin(world: Surroundings): Promise<void>;
  /** Returns the time (epoch ms) of its next action. */
  nextAt(): number;
  act(now: number): Promise<void>;
  /** Handles an email of a mailbox, given by its index. Returns true if it belongs to the company. */
  takes(mailbox: number, to: string, raw: Buffer, now: number): boolean;
}
