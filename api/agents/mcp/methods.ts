import type { Middleware } from 'koa';
import { MCP_PATHS } from '../../../domain/identity/oauth/urls.ts';
import type { Config } from '../../../lib/config/index.ts';
import { message, type Message } from '../../../messages/index.ts';
import { render } from '../../../messages/render.ts';

const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Refuses two kinds of requests to the MCP endpoint:
 * - every method but POST (405). The endpoint keeps no sessions to end (DELETE) and sends no messages of its own (GET).
 * - over the loopback interface, a Host that is neither loopback nor a host of the installation (403). Otherwise a web
 * page in a browser on this machine could call the endpoint like a local program (DNS rebinding). A reverse proxy on
 * this machine sends the installation's host.
 */
export function mcpGate({ API_PUBLIC_URL, APP_URL }: Pick<Config, 'API_PUBLIC_URL' | 'APP_URL'>): Middleware {
  const hosts = new Set([...LOOPBACK_HOSTS, ...[API_PUBLIC_URL, APP_URL].map((url) => new URL(url).hostname)]);
  return (koa, next) => {
    if (!(MCP_PATHS as readonly string[]).includes(koa.path.replace(/\/$/, ''))) return next();
    if (koa.method !== 'POST') {
      koa.set('Allow', 'POST');
      return refuse(405, message('mcp.only_post'));
    }
    if (isLoopback(koa.req.socket.localAddress) && !hosts.has(hostname(koa.get('host'))))
      return refuse(403, message('mcp.foreign_host'));
    return next();

    function refuse(status: number, said: Message): void {
      koa.status = status;
      koa.body = { jsonrpc: '2.0', error: { code: -32000, message: render(said) }, id: null };
    }
  };
}

function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(?:::ffff:)?127\.|^::1$/.test(address);
}

function hostname(host: string): string {
  return host.replace(/:\d+$/, '').toLowerCase();
}
