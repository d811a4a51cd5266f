import type { Middleware } from 'koa';
import { MCP_PATHS } from '../../../domain/identity/oauth/urls.ts';
import { message } from '../../../messages/index.ts';
import { render } from '../../../messages/render.ts';

/**
 * Answers 405 to every method but POST. The endpoint keeps no sessions to end (DELETE) and sends no messages of its own
 * (GET); the MCP transport allows a server to decline both this way.
 */
export const onlyPost: Middleware = (koa, next) => {
  if (koa.method === 'POST' || !(MCP_PATHS as readonly string[]).includes(koa.path.replace(/\/$/, ''))) return next();
  koa.status = 405;
  koa.set('Allow', 'POST');
  koa.body = {
    jsonrpc: '2.0',
    error: { code: -32000, message: render(message('mcp.only_post')) },
    id: null,
  };
  return undefined;
};
