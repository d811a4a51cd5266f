import type { Config } from '../../lib/config/index.ts';
import type { WorkflowContract } from '../../workflows/contract.ts';

/**
 * Returns the URL of a workflow in the Temporal UI, or an empty object when TEMPORAL_UI_URL is not set.
 * @param parts values of the workflow id
 */
export function runUrl<Args>(
  { TEMPORAL_UI_URL: ui, TEMPORAL_NAMESPACE: namespace }: Pick<Config, 'TEMPORAL_UI_URL' | 'TEMPORAL_NAMESPACE'>,
  contract: WorkflowContract<Args, any>,
  parts: Omit<Args, 'organizationId'>,
): { temporal_url?: string } {
  if (!ui) return {};
  // The cast is safe, because the workflow id does not contain the organization.
  const id = contract.id(parts as Args);
  const path = `namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(id)}`;
  return { temporal_url: `${ui.replace(/\/$/, '')}/${path}` };
}
