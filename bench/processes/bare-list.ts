/** Server of plain Koa and pg: runs the query of QUERY and answers with its rows. */
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import pg from 'pg';

const { sql, bindings } = JSON.parse(process.env.QUERY!) as { sql: string; bindings: unknown[] };
const pool = new pg.Pool({ connectionString: process.env.PRIMARY_DB!, max: Number(process.env.DB_POOL_MAX ?? 20) });
const app = new Koa();
app.use(async (ctx) => {
  const { rows } = await pool.query(sql, bindings);
  ctx.body = { data: rows };
});
const server = app.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
