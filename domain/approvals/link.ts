import type { Config } from '../../lib/config/index.ts';

/** Why an approval ended whose time passed. */
export const NO_DECISION = 'No decision within 30 minutes';

/** Where a person sees what an approval is about, and decides. */
export function approvalUrl({ APP_URL }: Pick<Config, 'APP_URL'>, id: string): string {
  return `${APP_URL}/approvals/${id}`;
}
