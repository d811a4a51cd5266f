import type { Config } from '../../../lib/config/index.ts';
import type { Deps } from '../../platform/kernel/context.ts';

type Urls = Pick<Config, 'API_PUBLIC_URL' | 'APP_URL'>;

/** Returns the issuer identifier of this authorization server (RFC 8414; `iss` of RFC 9207). */
export function issuer(config: Urls): string {
  return config.API_PUBLIC_URL;
}

/** Returns the URL of the page where a person authorizes an application. */
export function authorizeUrl(config: Urls): string {
  return `${config.APP_URL}/oauth/authorize`;
}

/** Paths of the MCP endpoint. Each of them is a separate resource name. */
export const MCP_PATHS = ['/mcp', '/v1/mcp'] as const;

/**
 * Returns true if a `resource` (RFC 8707) belongs to this installation: the API, or its MCP endpoint. A token for one
 * of them is valid for the other, because both have the same checks and scopes.
 */
export function isOwnResource({ config }: Pick<Deps, 'config'>, resource: string): boolean {
  const base = config.API_PUBLIC_URL;
  return [
    base,
    `${base}/`,
    `${base}/v1`,
    ...MCP_PATHS.flatMap((path) => [`${base}${path}`, `${base}${path}/`]),
  ].includes(resource);
}
