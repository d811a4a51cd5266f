import type { Config } from '../../lib/config/index.ts';

/** Returns the URL of the page on which a person sees and decides an approval. */
export function approvalUrl({ APP_URL }: Pick<Config, 'APP_URL'>, id: string): string {
  return `${APP_URL}/approvals/${id}`;
}
