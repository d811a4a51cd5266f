import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listenHttp } from '../../lib/listen.ts';
import { refusalOfSignature } from './sigv4.ts';

/** Credentials and region of the server's only account. */
const ACCOUNT = { id: 'HERONTEST', secret: 'HERONTEST', region: 'eu-west-1', service: 's3' };
const BUCKET = 'heron-files';

/** Running S3 server with one bucket. */
export interface S3World {
  /** Settings of Heron for the server. */
  env: Record<string, string>;
  /** Returns the names of the objects in the bucket. */
  objects(): Promise<string[]>;
  /** If true, every request is answered with 503; false ends that. */
  fail(isFailing: boolean): void;
  stop(): Promise<void>;
}

/**
 * Starts an in-memory S3 server for the four requests of lib/blobs/s3.ts. It follows Amazon's API reference: it checks
 * signatures (version 4) and Content-MD5, and refuses with the reference's error codes.
 */
export async function startS3(): Promise<S3World> {
  const objects = new Map<string, Buffer>();
  let isFailing = false;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const refusal = refusalOfSignature(request, body, ACCOUNT);
    if (isFailing) refuse(response, 503, 'ServiceUnavailable');
    else if (refusal) refuse(response, 403, refusal);
    else serve(objects, request, body, response);
  };
  const server = await listenHttp(answer, '127.0.0.1', 0);
  return {
    env: {
      BLOB_S3_BUCKET: BUCKET,
      BLOB_S3_REGION: ACCOUNT.region,
      BLOB_S3_ENDPOINT: server.url,
      BLOB_S3_ACCESS_KEY_ID: ACCOUNT.id,
      BLOB_S3_SECRET_ACCESS_KEY: ACCOUNT.secret,
    },
    objects: () => Promise.resolve([...objects.keys()]),
    fail: (failing) => void (isFailing = failing),
    stop: () => server.close(),
  };
}

/** Answers HeadBucket, PutObject, GetObject and DeleteObject in path style. */
function serve(objects: Map<string, Buffer>, request: IncomingMessage, body: Buffer, response: ServerResponse): void {
  const { pathname } = new URL(request.url!, 'http://s3');
  const [, bucket, ...names] = pathname.split('/').map(decodeURIComponent);
  const key = names.join('/');
  const stored = objects.get(key);
  if (bucket !== BUCKET) return refuse(response, 404, 'NoSuchBucket');
  if (request.method === 'HEAD' && key === '') return void response.end();
  if (key === '') return refuse(response, 501, 'NotImplemented');
  switch (request.method) {
    case 'PUT':
      if (request.headers['content-md5'] !== md5(body, 'base64')) return refuse(response, 400, 'BadDigest');
      objects.set(key, body);
      response.setHeader('etag', `"${md5(body, 'hex')}"`);
      return void response.end();
    case 'GET':
      return stored ? sendObject(stored, request, response) : refuse(response, 404, 'NoSuchKey');
    case 'DELETE':
      objects.delete(key);
      return void response.writeHead(204).end();
    default:
      return refuse(response, 501, 'NotImplemented');
  }
}

/** Sends an object, or the part from `Range: bytes=<from>-`. */
function sendObject(stored: Buffer, request: IncomingMessage, response: ServerResponse): void {
  const from = /^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1];
  const part = stored.subarray(Number(from ?? 0));
  if (from !== undefined && part.length === 0) return refuse(response, 416, 'InvalidRange');
  response.writeHead(from === undefined ? 200 : 206, {
    'content-length': part.length,
    etag: `"${md5(stored, 'hex')}"`,
    ...(from === undefined ? {} : { 'content-range': `bytes ${from}-${stored.length - 1}/${stored.length}` }),
  });
  response.end(part);
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}

function md5(bytes: Buffer, encoding: 'hex' | 'base64'): string {
  return createHash('md5').update(bytes).digest(encoding);
}
