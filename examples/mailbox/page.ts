import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Inbox, ShownEmail } from './inbox.ts';

const MAX_ANSWER_BYTES = 64 * 1024;
const STYLE = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}
article{border:1px solid #8884;border-radius:10px;padding:.8rem 1rem;margin:1rem 0}h2{font-size:1.05rem;margin:0}small{opacity:.7}
pre{white-space:pre-wrap;font:inherit;margin:.6rem 0}blockquote{margin:.4rem 0;padding-left:.8rem;border-left:3px solid #1c5fb8}
form{display:flex;gap:.5rem}input{flex:1;font:inherit;padding:.4rem .6rem}button{font:inherit;padding:.4rem .9rem}`;

/**
 * Serves the emails on 127.0.0.1: `GET /` for people, `GET /emails.json` for programs. `POST /emails/:id/reply` with
 * the field `text` answers an email as its recipient.
 */
export async function startPage(inbox: Inbox, port: number): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    answer(inbox, request, response).catch((error: Error) => send(response, 500, 'text/plain', error.message));
  });
  const listening = once(server, 'listening');
  server.listen(port, '127.0.0.1');
  await listening;
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

async function answer(inbox: Inbox, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (!isFromHere(request)) return send(response, 403, 'text/plain', 'Open this page at http://127.0.0.1.\n');
  const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
  if (request.method === 'GET' && pathname === '/emails.json')
    return send(response, 200, 'application/json', JSON.stringify(inbox.emails()));
  if (request.method === 'GET' && pathname === '/') return send(response, 200, 'text/html; charset=utf-8', page(inbox));
  const email = inbox.find(Number(/^\/emails\/(\d+)\/reply$/.exec(pathname)?.[1]));
  if (request.method !== 'POST' || !email) return send(response, 404, 'text/plain', 'No such email.\n');
  const words = new URLSearchParams(await readBody(request)).get('text')?.trim();
  if (!words) return send(response, 400, 'text/plain', 'The field text is missing.\n');
  await inbox.answer(email, words);
  response.writeHead(303, { Location: '/' }).end();
}

/**
 * Returns true for requests of this page. Host names of other sites can resolve to this machine (DNS rebinding), and
 * pages of other sites can send forms to it. Both are refused.
 */
function isFromHere({ headers }: IncomingMessage): boolean {
  const isLocal = /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(headers.host ?? '');
  return isLocal && (headers.origin === undefined || headers.origin === `http://${headers.host}`);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new Error('the answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, status: number, type: string, text: string): void {
  response
    .writeHead(status, {
      'Content-Type': type,
      'Content-Security-Policy':
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    })
    .end(text);
}

function page(inbox: Inbox): string {
  const emails = inbox.emails();
  const list = emails.length === 0 ? '<p>No email has come yet.</p>' : emails.map(shown).join('');
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta http-equiv="refresh" content="10">
<title>Emails</title><style>${STYLE}</style><h1>Emails</h1><p><small>Everything that was sent since the mailbox started, newest first. An answer goes to the sender, as if the recipient had written it.</small></p>${list}</html>`;
}

function shown({ id, from, to, subject, text, at, answers }: ShownEmail): string {
  return `<article><h2>${safe(subject)}</h2><small>${safe(from)} to ${safe(to)}, ${at.toISOString()}</small><pre>${safe(text)}</pre>
${answers.map((words) => `<blockquote>${safe(words)}</blockquote>`).join('')}<form method="post" action="/emails/${id}/reply"><input name="text" aria-label="Answer of ${safe(to)}" placeholder="Answer as ${safe(to)}" required><button>Reply</button></form></article>`;
}

function safe(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
