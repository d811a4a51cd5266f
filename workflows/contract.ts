/**
 * What a caller may know of a workflow without importing it: its type, how its id is made, what an operator reads.
 * Ids are deterministic, so a start or signal that arrives twice meets the same run. Ids and kinds only, never addresses.
 */
export interface WorkflowContract<Args> {
  /** Exported function name in the workflow bundle. */
  type: string;
  /** Shown as search attribute Kind. */
  kind: string;
  id(args: Args): string;
  /** One line for the Temporal UI. */
  summary(args: Args): string;
  searchAttributes(args: Args): { OrganizationId: string; CampaignId?: string };
}
