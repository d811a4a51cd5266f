import { defineWorkflow, type ArgsOf } from '../contract.ts';

/** Signals of a renewal. A signal only wakes the workflow; the state is in PostgreSQL. */
export type DomainRenewalSignals = {
  /** A payment succeeded or failed, or the domain was released. */
  changed: { cause: 'payment' | 'released' };
  /** An operator or the sweep retries a workflow that failed repeatedly, or a renewal that needs a person. */
  retry: { cause: 'operator' | 'sweep' };
};

/** Renewals of one managed domain, year after year, while it is registered through Heron. */
export const domainRenewalWorkflow = defineWorkflow<DomainRenewalSignals>()({
  type: 'domainRenewal',
  kind: 'domain-renewal',
  parts: ['domainId'],
  summary: ({ domainId }) => `Renewals of domain ${domainId}`,
  cancel: 'Ends this run; maintenance opens another one. Release the domain to end its renewals.',
});

/** Arguments of a domain's renewals. */
export type DomainRenewalArgs = ArgsOf<typeof domainRenewalWorkflow>;

/** Result of one iteration. Times are epoch milliseconds; `where` describes the wait for people. */
export type RenewalReport =
  | { kind: 'wait'; state: 'scheduled' | 'charging' | 'renewing' | 'requires_action'; until: number; where: string }
  /** The domain was renewed and the next cycle begins. */
  | { kind: 'renewed' }
  | { kind: 'done'; outcome: string };

/** Activities that the workflow calls. */
export interface DomainRenewalActivities {
  /**
   * Executes the current step of the domain's cycle: price, charge or renewal. Returns the time and reason of the next
   * wait.
   */
  renewalTurn(args: DomainRenewalArgs): Promise<RenewalReport>;
}
