import type { Context } from 'koa';
import { liveness } from '../../lib/iterations.ts';

/** Answers GET /health of a server without the API's envelope. */
export function showHealth(koa: Pick<Context, 'status' | 'body'>): void {
  const { status, body } = liveness();
  koa.status = status;
  koa.body = body;
}
