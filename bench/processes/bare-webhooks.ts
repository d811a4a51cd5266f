/**
 * Client of plain undici and node:crypto. Signs the variable BODIES and posts them in rotation to TARGET, with
 * CONCURRENCY requests at once. When it receives a number as a message, it posts that many bodies and answers with the
 * duration (ms).
 */
import { createHmac } from 'node:crypto';
import { Pool } from 'undici';

const bodies = JSON.parse(process.env.BODIES!) as { id: string; event_type: string; body: string }[];
const concurrency = Number(process.env.CONCURRENCY);
const pool = new Pool(new URL(process.env.TARGET!).origin, { connections: concurrency, pipelining: 1 });
const secret = 'whsec_bench';

async function post(index: number): Promise<void> {
  const { id, event_type: type, body } = bodies[index % bodies.length]!;
  const at = Math.floor(Date.now() / 1000);
  const signature = createHmac('sha256', secret).update(`${at}.`).update(body).digest('hex');
  const response = await pool.request({
    method: 'POST',
    path: '/hook',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Webhooks/1.0',
      'x-service-event': type,
      'x-service-event-id': `${id}-${index}`,
      'x-service-signature': `t=${at},v1=${signature}`,
    },
    body,
  });
  await response.body.dump();
  if (response.statusCode !== 204) throw new Error(`status ${response.statusCode}`);
}

async function postAll(count: number): Promise<number> {
  const startedAt = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (next < count) await post(next++);
    }),
  );
  return performance.now() - startedAt;
}

process.on('message', (question) => {
  void postAll(Number(question)).then((ms) => process.send!({ ms }));
});
process.send!({ port: 0 });
