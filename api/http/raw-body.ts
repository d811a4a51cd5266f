import type { Readable } from 'node:stream';
import { AppError } from '../../lib/errors.ts';
import { message } from '../../messages/index.ts';

/**
 * Reads the bytes of a body that was left unparsed, for example because its signature covers them.
 * @throws AppError bad_request if the body is too large; the rest of the body is read and discarded
 */
export async function readBytes(body: Readable, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) break;
    chunks.push(chunk);
  }
  if (size <= maxBytes) return Buffer.concat(chunks);
  body.resume();
  throw new AppError('bad_request', message('request.body_longer', { max: maxBytes }));
}
