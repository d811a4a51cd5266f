import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyHeaders } from '@fastify/busboy';

/** A file part that was written to disk. */
export interface MultipartFile {
  path: string;
  /** File name given by the client, without folders. */
  filename: string;
  sizeBytes: number;
  /** SHA-256 of the file in hex. */
  sha256: string;
}

/** Parts of a multipart body. A field that occurs twice is a list. */
export interface Multipart {
  fields: Record<string, string | string[]>;
  files: Record<string, MultipartFile>;
}

export interface MultipartLimits {
  /** Maximum number of bytes of the whole body. */
  bodyBytes: number;
  /** Maximum number of bytes of one field. */
  fieldBytes: number;
  /** Maximum number of file parts that are kept. Further parts are skipped. */
  files: number;
}

/** Thrown for a body that exceeds a limit (`too_large`) or is not a valid multipart body. */
export class MultipartError extends Error {
  readonly kind: 'too_large' | 'malformed';
  constructor(kind: 'too_large' | 'malformed', options?: ErrorOptions) {
    super(kind, options);
    this.kind = kind;
  }
}

const MAX_FIELDS = 50;
const MAX_HEADERS = 50;

/**
 * Reads a multipart body: fields as text, files to disk. The caller deletes the files. After an error no files remain.
 * The processing time is proportional to the length of the body, regardless of its content.
 * @throws MultipartError
 */
export async function readMultipart(request: IncomingMessage, limits: MultipartLimits): Promise<Multipart> {
  const result: Multipart = { fields: Object.create(null), files: Object.create(null) };
  const writes: Promise<void>[] = [];
  try {
    await readParts(request, limits, result, writes);
    await Promise.all(writes);
    return result;
  } catch (error) {
    // Skips the rest of the body, so that the client can read the answer.
    request.resume();
    await Promise.allSettled(writes);
    await Promise.all(Object.values(result.files).map(({ path }) => rm(path, { force: true })));
    throw error instanceof MultipartError ? error : new MultipartError('malformed', { cause: error });
  }
}

function readParts(
  request: IncomingMessage,
  limits: MultipartLimits,
  { fields, files }: Multipart,
  writes: Promise<void>[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    const parser = new Busboy({
      headers: request.headers as BusboyHeaders,
      limits: {
        fieldSize: limits.fieldBytes,
        files: limits.files,
        fields: MAX_FIELDS,
        parts: MAX_FIELDS + limits.files,
        headerPairs: MAX_HEADERS,
      },
    });
    const open = new Set<Readable>();
    const fail = (error: unknown): void => {
      request.unpipe(parser);
      for (const part of open) part.destroy(new MultipartError('malformed'));
      reject(error as Error);
    };
    let sizeBytes = 0;
    request.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes > limits.bodyBytes) fail(new MultipartError('too_large'));
    });
    request.once('close', () => {
      if (!request.complete) fail(new MultipartError('malformed'));
    });
    parser.on('field', (name, value, _nameTruncated, valueTruncated) => {
      if (valueTruncated) return fail(new MultipartError('too_large'));
      const before = fields[name];
      fields[name] = before === undefined ? value : [before, value].flat();
    });
    parser.on('file', (name, part, filename) => {
      open.add(part);
      part.once('close', () => open.delete(part));
      // Handles errors of an unread part. Without a listener they would end the process.
      part.on('error', () => {});
      if (name in files) return void part.resume();
      const file = { path: join(tmpdir(), randomUUID()), filename: filename || name, sizeBytes: 0, sha256: '' };
      files[name] = file;
      const write = writeHashed(part, file);
      write.catch(fail);
      writes.push(write);
    });
    for (const limit of ['partsLimit', 'fieldsLimit'] as const)
      parser.on(limit, () => fail(new MultipartError('too_large')));
    parser.on('error', fail);
    parser.once('finish', resolve);
    request.pipe(parser);
  });
}

async function writeHashed(part: Readable, file: MultipartFile): Promise<void> {
  const hash = createHash('sha256');
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      file.sizeBytes += chunk.length;
      done(null, chunk);
    },
  });
  await pipeline(part, measure, createWriteStream(file.path, { mode: 0o600 }));
  file.sha256 = hash.digest('hex');
}
