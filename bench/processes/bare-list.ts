/**
 * Server of plain Koa and pg. Runs the statements that the variable QUERIES lists for the path, and answers with the
 * rows of the last one.
 */
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import pg from 'pg';

type Queries = Record<string, { sql: string; bindings: unknown[] }[]>;

const queries = JSON.parse(process.env.QUERIES!) as Queries;
const pool = new pg.Pool({ connectionString: process.env.PRIMARY_DB!, max: Number(process.env.DB_POOL_MAX ?? 20) });
const app = new Koa();
app.use(async (ctx) => {
  let data: unknown[] = [];
  for (const { sql, bindings } of queries[ctx.path.slice(1)]!) data = (await pool.query(sql, bindings)).rows;
  ctx.body = { data };
});
const server = app.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
