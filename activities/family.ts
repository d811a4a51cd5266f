import type { DeliveryEngine } from '../domain/connect/delivery/engine.ts';
import { blockedRows, type MarkedRow } from '../domain/platform/blocked-rows.ts';
import { expectedRuns, type RunQuery, type RunRows } from '../domain/platform/expected-runs.ts';
import type { Deps } from '../domain/platform/kernel/context.ts';
import type { BlockedRuns, DurableFamily } from '../domain/platform/kernel/tx.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { SmtpSender } from '../lib/smtp/index.ts';
import type { TargetLimits } from '../lib/target-limits.ts';
import type { WorkflowContract } from '../workflows/contract.ts';
import type { Queue } from '../workflows/queues.ts';

/** Parts of a worker process that activities share. */
export interface ActivityParts {
  deps: Deps;
  metrics: Metrics;
  smtp: SmtpSender;
  /** Delivery engine for webhooks. */
  engine: DeliveryEngine;
  /** Limits the open calls to customers' apps per app connection. */
  appCalls: TargetLimits;
  /** Limits the IMAP connections that store copies of sent emails, per host. */
  copies: TargetLimits;
  /** Limits the open calls to integration providers. */
  providers: TargetLimits;
}

type Activity = (...args: any[]) => Promise<unknown>;

/** Activities by name. */
export type Served = Record<string, Activity>;

/** Declaration of one kind of workflow, with its activities. */
export interface Family extends DurableFamily {
  /** Creates the activities, each with the queue that serves it. */
  serve(parts: ActivityParts): [Queue, name: string, Activity][];
}

interface Declaration<Activities> extends Partial<Pick<DurableFamily, 'deadLetters' | 'approval'>> {
  contract: WorkflowContract<any, any>;
  /**
   * The queue of all activities, or one queue per activity. Activities that the workflow calls as local ones run on
   * `workflows`.
   */
  queue: Queue | { readonly [Name in keyof Activities]: Queue };
  activities(parts: ActivityParts): Activities;
  /** The rows whose workflow must be open, as a table or a query, or the reason why no workflow must be open. */
  mustBeOpen: RunRows | RunQuery | { unneeded: string };
  /** Columns that mark a blocked workflow. Table, key and condition default to those of `mustBeOpen`. */
  blocked?: BlockedRuns | (Omit<MarkedRow, keyof RunRows> & Partial<RunRows>);
}

/** Declares a durable family once for workers, reconciliation, blocked workflows, dead letters and approvals. */
export function family<Activities extends object>(declaration: Declaration<Activities>): Family {
  const { contract, queue, mustBeOpen, blocked, deadLetters = [], approval } = declaration;
  return {
    contract,
    approval,
    deadLetters,
    mustBeOpen: 'unneeded' in mustBeOpen ? mustBeOpen : expectedRuns(contract, mustBeOpen),
    blocked:
      blocked === undefined || 'block' in blocked
        ? blocked
        : blockedRows(contract, { ...('table' in mustBeOpen ? mustBeOpen : {}), ...blocked } as MarkedRow),
    serve: (parts) =>
      Object.entries(declaration.activities(parts) as Served).map(([name, activity]) => [
        typeof queue === 'string' ? queue : queue[name as keyof Activities],
        name,
        activity,
      ]),
  };
}
