/**
 * Server of plain Koa and pg. Exchanges refresh tokens with the two statements in the variable STATEMENTS, without
 * authorization checks.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import Koa from 'koa';
import pg from 'pg';

const [find, use] = JSON.parse(process.env.STATEMENTS!) as [string, string];
const pool = new pg.Pool({ connectionString: process.env.PRIMARY_DB!, max: Number(process.env.DB_POOL_MAX ?? 20) });
const sha256 = (value: string): string => createHash('sha256').update(value).digest('hex');
const secret = (): string => randomBytes(32).toString('base64url');

const app = new Koa();
app.use(async (ctx) => {
  const form = new URLSearchParams(await text(ctx.req));
  const {
    rows: [token],
  } = await pool.query(find, [sha256(form.get('refresh_token')!), form.get('client_id')]);
  const [access, refresh, now] = [secret(), secret(), new Date()];
  await pool.query(use, [
    now,
    token.id,
    randomUUID(),
    sha256(access),
    token.scopes,
    new Date(now.getTime() + 3600_000),
    randomUUID(),
    sha256(refresh),
    new Date(now.getTime() + 86_400_000),
  ]);
  ctx.body = {
    access_token: access,
    token_type: 'Bearer',
    expires_in: 3600,
    refresh_token: refresh,
    scope: 'read_contacts',
  };
});
const server = app.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
