import type { Resource } from './queues.ts';

/**
 * How urgent a kind of work is. The numbers are Temporal's `priorityKey`: a task with a higher number waits as long as
 * there is any with a lower one. `interactive`: a person waits. `standard`: everything else. There are only these two,
 * because priority goes before fairness: one tenant's flood of mail, were it more urgent than a launcher or an import,
 * would hold up the launchers and imports of every other tenant for as long as it lasts.
 */
export const PRIORITY = { interactive: 1, standard: 3 } as const;

/** Type of the failure of an activity that kept failing: PostgreSQL shows its object as blocked. */
export const BLOCKED = 'blocked';

/** The kind of work a run does, see {@link PRIORITY}. */
export type Work = keyof typeof PRIORITY;

/** Whether a start opens another run under the id of one that has closed. */
export type IdReuse = 'always' | 'afterFailure' | 'never';

/** What a start does while a run is open under its id: `join` leaves that run alone, `refuse` is an error for the caller that waits for a result. */
export type IdConflict = 'join' | 'refuse';

/** The payload of a signal: what happened, as kinds and ids. Small, and never an address, a body or a secret. */
export type SignalPayload = Readonly<Record<string, string | number | null>>;

/** The signals a workflow takes: name to payload. */
export type Signals = Readonly<Record<string, SignalPayload>>;

/** Signal of every workflow whose subject can wait for a person: the approval was decided, or ended without a decision. */
export type ApprovalSignals = {
  decided: { approvalId: string; status: 'approved' | 'denied' | 'expired' };
};

declare const defined: unique symbol;

/** Effects of ending a run by hand in the Temporal UI; shown there while the run is open. */
export interface Stops {
  readonly cancel: string;
  /** Default: {@link REOPENED}. */
  readonly terminate: string;
}

/** The effect where a run ends and its row says that it must be open. */
const REOPENED = 'Maintenance opens the run again within 15 minutes, because PostgreSQL says that it must be open.';

/**
 * What code outside workflows/ may know of a workflow. Only {@link defineWorkflow} and
 * {@link defineInstallationWorkflow} make one, and they enforce that arguments are a function of the id: a start that
 * meets an open run has the same arguments as that run, so nothing is lost.
 */
export interface WorkflowContract<Args, Taken extends Signals = Signals> extends Stops {
  /** Exported function name in the workflow bundle. */
  readonly type: string;
  /** Shown as search attribute Kind. */
  readonly kind: string;
  /** First segment of every id; no two contracts share one. */
  readonly prefix: string;
  /** The arguments that make the id, in their order. */
  readonly parts: readonly (keyof Args & string)[];
  readonly work: Work;
  readonly reuse: IdReuse;
  readonly conflict: IdConflict;
  /** Task queue of the runs; without one, the installation's own. */
  readonly queue: Resource | undefined;
  /**
   * `prefix/part/part…`: deterministic, so a start or signal that arrives twice meets the same run.
   * @throws RangeError for a part that is empty or contains a slash
   */
  id(args: Args): string;
  /** The id parts of an id of this contract; undefined for any other id. */
  partsOf(id: string): Omit<Args, 'organizationId'> | undefined;
  /** Exactly the declared arguments, without other properties of the object. */
  args(args: Args): Args;
  /** One line for the Temporal UI. */
  summary(args: Args): string;
  /** What operators filter by. OrganizationId is also the fairness key. */
  searchAttributes(args: Args): { OrganizationId: string; CampaignId?: string };
  /** Never read: it carries the types of the signals, and prevents contracts that are made another way. */
  readonly [defined]: Taken;
}

/** The arguments of a contract's runs. */
export type ArgsOf<Contract> = Contract extends WorkflowContract<infer Args, infer _> ? Args : never;

interface Declaration<Part extends string, Args> {
  type: string;
  kind: string;
  /** Default: the kind. */
  prefix?: string;
  /** Ids of rows, in the order in which they stand in the id. */
  parts: readonly Part[];
  summary(args: Args): string;
  /** The effect of Cancel in the Temporal UI, for operators, and the way to stop the work for good. */
  cancel: string;
  /** The effect of Terminate. Default: {@link REOPENED}. */
  terminate?: string;
  /** Default: standard. */
  work?: Work;
  /** Default: always. */
  reuse?: IdReuse;
  /** Default: join. */
  conflict?: IdConflict;
  queue?: Resource;
}

/** Arguments of a run that serves one organization: that organization, and the parts of the id. */
type OrganizationArgs<Part extends string> = { readonly [Name in Part | 'organizationId']: string };
/** Arguments of a run that serves the whole installation: the parts of the id. */
type InstallationArgs<Part extends string> = { readonly [Name in Part]: string };

/**
 * Declares a workflow of one organization. The id parts name rows, which belong to exactly one organization, so
 * organizationId follows from the id as well. `Taken` are the signals: defineWorkflow<MySignals>()({…}).
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
