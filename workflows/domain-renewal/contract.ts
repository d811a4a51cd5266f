import { defineWorkflow, type ArgsOf } from '../contract.ts';

/** Signals of a renewal. They are hints: the state is in PostgreSQL. */
export type DomainRenewalSignals = {
  /** A payment was made or came to nothing, or the domain was given back. */
  changed: { cause: 'payment' | 'released' };
  /** An operator or the sweep retries a run that kept failing, or a renewal that needs a person. */
  retry: { cause: 'operator' | 'sweep' };
};

/** The renewals of one managed domain, cycle after cycle, for as long as it is ours. */
export const domainRenewalWorkflow = defineWorkflow<DomainRenewalSignals>()({
  type: 'domainRenewal',
  kind: 'domain-renewal',
  parts: ['domainId'],
  summary: ({ domainId }) => `Renewals of domain ${domainId}`,
  cancel: 'Ends this run; maintenance opens another one. Release the domain to end its renewals.',
});

/** Arguments of the renewals of a domain. */
export type DomainRenewalArgs = ArgsOf<typeof domainRenewalWorkflow>;

/** What a turn found. Times are epoch milliseconds; `where` describes the wait for people. */
export type RenewalReport =
  | { kind: 'wait'; state: 'scheduled' | 'charging' | 'renewing' | 'requires_action'; until: number; where: string }
  /** A cycle has ended with its renewal, and the next begins. */
  | { kind: 'renewed' }
  | { kind: 'done'; outcome: string };

/** Activities of this family, as the workflow sees them. */
export interface DomainRenewalActivities {
  /** Does what the cycle of the domain needs now: prices, charges, renews. Says what it waits for. */
  renewalTurn(args: DomainRenewalArgs): Promise<RenewalReport>;
}
