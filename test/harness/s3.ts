import { mkdtemp, readdir, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { request as forward } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { listenHttp } from '../../lib/listen.ts';
import { refusalOfSignature } from './sigv4.ts';

/** The one account that s3rver knows. */
const ACCOUNT = { id: 'S3RVER', secret: 'S3RVER', region: 'eu-west-1', service: 's3' };
const BUCKET = 'heron-files';

/** A running S3 server with one bucket. */
export interface S3World {
  /** Settings of Heron for it. */
  env: Record<string, string>;
  /** Names of the objects in the bucket. */
  objects(): Promise<string[]>;
  /** Answers every request with 503 until it is called with false. */
  fail(isFailing: boolean): void;
  stop(): Promise<void>;
}

/** Starts s3rver, an S3 server over a folder, behind a gate that judges signatures (version 4), which s3rver does not. */
export async function startS3(): Promise<S3World> {
  const directory = await mkdtemp(join(tmpdir(), 'heron-s3-'));
  const s3 = new S3rver({ directory, silent: true, configureBuckets: [{ name: BUCKET }] });
  await s3.configureBuckets();
  const inner = await listenHttp(s3.callback(), '127.0.0.1', 0);
  let isFailing = false;
  const gate = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const refusal = isFailing ? 'ServiceUnavailable' : refusalOfSignature(request, body, ACCOUNT);
    if (refusal) {
      response.writeHead(isFailing ? 503 : 403, { 'content-type': 'application/xml' });
      response.end(`<?xml version="1.0"?><Error><Code>${refusal}</Code><Message>${refusal}</Message></Error>`);
      return;
    }
    const { method, headers, url } = request;
    const passed = forward(`${inner.url}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    passed.end(body);
  };
  const server = await listenHttp((request, response) => void gate(request, response), '127.0.0.1', 0);
  return {
    env: {
      BLOB_S3_BUCKET: BUCKET,
      BLOB_S3_REGION: ACCOUNT.region,
      BLOB_S3_ENDPOINT: server.url,
      BLOB_S3_ACCESS_KEY_ID: ACCOUNT.id,
      BLOB_S3_SECRET_ACCESS_KEY: ACCOUNT.secret,
    },
    async objects() {
      const names = await readdir(join(directory, BUCKET), { recursive: true });
      const suffix = '._S3rver_object';
      return names.filter((name) => name.endsWith(suffix)).map((name) => name.slice(0, -suffix.length));
    },
    fail: (failing) => void (isFailing = failing),
    async stop() {
      await server.close();
      await inner.close();
      s3.logger.exceptions.unhandle();
      s3.logger.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
