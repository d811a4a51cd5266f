import type { Resource } from './queues.ts';

/**
 * Urgency of a kind of work as Temporal's `priorityKey`: tasks with a higher number wait while any with a lower one is
 * queued. `interactive`: a person waits. `standard`: all other work. There are only two, because Temporal applies
 * priority before fairness. If mail were more urgent than launchers or imports, one tenant's flood of mail would delay
 * the launchers and imports of all others.
 */
export const PRIORITY = { interactive: 1, standard: 3 } as const;

/** Failure type of an activity that failed repeatedly. PostgreSQL marks its workflow as blocked. */
export const BLOCKED = 'blocked';

/** Message for people by its code, with its values. */
export interface Sentence {
  code: string;
  values: Record<string, unknown>;
}

/** Kind of work that a workflow does; see {@link PRIORITY}. */
export type Work = keyof typeof PRIORITY;

/** Decides whether a start opens another workflow under the id of a closed one. */
export type IdReuse = 'always' | 'afterFailure' | 'never';

/**
 * Effect of a start while a workflow is open under its id. `join` leaves the open workflow unchanged. `refuse` is an
 * error for a caller that waits for a result.
 */
export type IdConflict = 'join' | 'refuse';

/** Payload of a signal: the cause as kinds and ids. It is small, and never contains an address, a body or a secret. */
export type SignalPayload = Readonly<Record<string, string | number | null>>;

/** Signals that a workflow accepts: name to payload. */
export type Signals = Readonly<Record<string, SignalPayload>>;

/** Signals of workflows that wait for an approval: the approval was decided, or ended without a decision. */
export type ApprovalSignals = {
  decided: { approvalId: string; status: 'approved' | 'denied' | 'expired' };
};

declare const defined: unique symbol;

/** Texts about the effects of Cancel and Terminate, shown in the Temporal UI while a workflow is open. */
export interface Stops {
  readonly cancel: string;
  /** Text about the effect of Terminate, which is usually {@link REOPENED}. */
  readonly terminate: string;
}

/** Default effect of Terminate: the workflow is started again if its row requires that it is open. */
const REOPENED = 'Maintenance opens the run again within 15 minutes, because PostgreSQL says that it must be open.';

/**
 * Part of a workflow that code outside workflows/ may use. Created only by {@link defineWorkflow} and {@link
 * defineInstallationWorkflow}, which enforce that the id determines the arguments. So a start for an open workflow has
 * the same arguments, and can be ignored.
 */
export interface WorkflowContract<Args, Taken extends Signals = Signals> extends Stops {
  /** Exported function name in the workflow bundle. */
  readonly type: string;
  /** Value of the search attribute Kind. */
  readonly kind: string;
  /** First segment of every id, unique among contracts. */
  readonly prefix: string;
  /** Names of the arguments that form the id, in order. */
  readonly parts: readonly (keyof Args & string)[];
  readonly work: Work;
  readonly reuse: IdReuse;
  readonly conflict: IdConflict;
  /** Task queue of the workflow. Undefined for the installation's own queue. */
  readonly queue: Resource | undefined;
  /**
   * Returns the id `prefix/part/part…`. The id is deterministic, so a repeated start or signal reaches the same
   * workflow.
   * @throws RangeError for a part that is empty or contains a slash
   */
  id(args: Args): string;
  /** Parses an id of this contract. Returns undefined for any other id. */
  partsOf(id: string): Omit<Args, 'organizationId'> | undefined;
  /** Returns the declared arguments without any other properties of the object. */
  args(args: Args): Args;
  /** Returns a one-line description for the Temporal UI. */
  summary(args: Args): string;
  /** Returns the search attributes that operators filter by. OrganizationId is also the fairness key. */
  searchAttributes(args: Args): { OrganizationId: string; CampaignId?: string };
  /**
   * Type of the signals. The property is never read. Its private symbol ensures that only {@link defineWorkflow} and
   * {@link defineInstallationWorkflow} create contracts.
   */
  readonly [defined]: Taken;
}

/** Arguments of a contract's workflow. */
export type ArgsOf<Contract> = Contract extends WorkflowContract<infer Args, infer _> ? Args : never;

interface Declaration<Part extends string, Args> {
  type: string;
  kind: string;
  /** First segment of the workflow id. Defaults to the kind. */
  prefix?: string;
  /** Names of the row ids, in the order of the workflow id. */
  parts: readonly Part[];
  summary(args: Args): string;
  /** Text for operators: the effect of Cancel in the Temporal UI, and the proper way to stop the work. */
  cancel: string;
  /** Text for operators: the effect of Terminate in the Temporal UI. Defaults to {@link REOPENED}. */
  terminate?: string;
  /** Urgency of the work. Defaults to `standard`. */
  work?: Work;
  /** Rule for reusing the id of a closed workflow. Defaults to `always`. */
  reuse?: IdReuse;
  /** Effect of a start while the workflow is open. Defaults to `join`. */
  conflict?: IdConflict;
  queue?: Resource;
}

/** Arguments of a workflow of one organization: its id and the parts of the workflow id. */
type OrganizationArgs<Part extends string> = { readonly [Name in Part | 'organizationId']: string };
/** Arguments of a workflow for the whole installation: the parts of the workflow id. */
type InstallationArgs<Part extends string> = { readonly [Name in Part]: string };

/**
 * Declares a workflow of one organization. The id parts name rows of exactly one organization, so the id also
 * determines `organizationId`. `Taken` is the type of its signals: defineWorkflow<MySignals>()({…}).
 */
export function defineWorkflow<Taken extends Signals = Record<never, never>>() {
  return <const Part extends string>(
    declaration: Declaration<Part, OrganizationArgs<Part>>,
  ): WorkflowContract<OrganizationArgs<Part>, Taken> => define(declaration, true);
}

/** Declares a workflow that serves all organizations; see {@link defineWorkflow}. */
export function defineInstallationWorkflow<Taken extends Signals = Record<never, never>>() {
  return <const Part extends string>(
    declaration: Declaration<Part, InstallationArgs<Part>>,
  ): WorkflowContract<InstallationArgs<Part>, Taken> => define(declaration, false);
}

function define<Part extends string, Args extends { readonly [Name in Part]: string }, Taken extends Signals>(
  declaration: Declaration<Part, Args>,
  ofOrganization: boolean,
): WorkflowContract<Args, Taken> {
  const { type, kind, parts, prefix = kind, work = 'standard', reuse = 'always', conflict = 'join' } = declaration;
  const names = ofOrganization ? ['organizationId', ...parts] : parts;
  const contract: Omit<WorkflowContract<Args, Taken>, typeof defined> = {
    type,
    kind,
    prefix,
    parts,
    work,
    reuse,
    conflict,
    queue: declaration.queue,
    cancel: declaration.cancel,
    terminate: declaration.terminate ?? REOPENED,
    id(args) {
      const values = parts.map((part) => args[part]);
      const bad = values.findIndex((value) => !value || value.includes('/'));
      if (bad >= 0) throw new RangeError(`${type}: "${parts[bad]}" cannot be part of a workflow id`);
      return [prefix, ...values].join('/');
    },
    partsOf(id) {
      const [first, ...values] = id.split('/');
      if (first !== prefix || values.length !== parts.length || values.includes('')) return undefined;
      return Object.fromEntries(parts.map((part, index) => [part, values[index]])) as Omit<Args, 'organizationId'>;
    },
    args: (args) => Object.fromEntries(names.map((name) => [name, args[name as Part]])) as unknown as Args,
    summary: declaration.summary,
    searchAttributes(args) {
      const ids = args as { organizationId?: string; campaignId?: string };
      return {
        OrganizationId: ofOrganization ? ids.organizationId! : 'installation',
        ...(ids.campaignId ? { CampaignId: ids.campaignId } : {}),
      };
    },
  };
  return contract as WorkflowContract<Args, Taken>;
}
