import { once } from 'node:events';
import { connect, createServer, type ServerHttp2Stream, type IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';

/** HTTP/2 proxy before Temporal that can refuse calls about some workflows. */
export interface TemporalDoor {
  /** Address (host:port) of Temporal through the proxy. */
  address: string;
  /** Refuses every call whose request contains one of these ids, with this gRPC code. */
  refuse(ids: readonly string[], code: number): void;
  /** Forwards all calls again. */
  open(): void;
  /** Returns the number of refused calls. */
  refused(): number;
  close(): void;
}

/** Headers that apply to a single connection and are not forwarded. HTTP/2 forbids them, or the client sets its own. */
const OF_ONE_CONNECTION = new Set(['connection', 'host', 'te']);

/**
 * Starts a proxy before the Temporal server of an address. gRPC carries ids as plain bytes, so no message is decoded.
 */
export async function openTemporalDoor(temporalAddress: string): Promise<TemporalDoor> {
  const inner = connect(`http://${temporalAddress}`);
  inner.on('error', () => {});
  let refusedIds: Buffer[] = [];
  let refusal = 0;
  let refused = 0;

  const carry = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, body: Buffer): void => {
    const forwarded = Object.entries(headers).filter(([name]) => !OF_ONE_CONNECTION.has(name));
    const upstream = inner.request({ ...Object.fromEntries(forwarded), te: 'trailers' });
    const fail = () => void (stream.destroyed || stream.close());
    upstream.on('error', fail);
    stream.on('close', () => upstream.close());
    upstream.on('response', (answer, flags) => {
      if (stream.destroyed) return;
      // True if the answer ends with its headers and so has no trailers.
      const isWhole = (flags & 1) !== 0;
      stream.respond(answer, { endStream: isWhole, waitForTrailers: !isWhole });
      if (isWhole) return;
      let trailers: IncomingHttpHeaders = {};
      upstream.on('trailers', (sent) => void (trailers = sent));
      stream.on('wantTrailers', () => stream.sendTrailers(trailers));
      upstream.pipe(stream);
    });
    upstream.end(body);
  };

  const server = createServer();
  server.on('session', (session) => session.on('error', () => {}));
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on('error', () => {});
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      const body = Buffer.concat(chunks);
      if (!refusedIds.some((id) => body.includes(id))) return carry(stream, headers, body);
      refused += 1;
      const status = { 'grpc-status': String(refusal), 'grpc-message': 'shard status unknown' };
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...status }, { endStream: true });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    refuse(ids, code) {
      refusedIds = ids.map((id) => Buffer.from(id));
      refusal = code;
    },
    open: () => void (refusedIds = []),
    refused: () => refused,
    close() {
      server.close();
      inner.destroy();
    },
  };
}
