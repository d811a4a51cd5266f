import { createHash } from 'node:crypto';
import type { S3Client } from '@aws-sdk/client-s3';
import type { Config } from '../config/index.ts';
import { BlobMissing, type BlobStore } from './store.ts';

/** Timeout (ms) for the beginning of an answer from S3, and for each pause within an answer. */
const TIMEOUT_MS = 30_000;
const CHECK_TIMEOUT_MS = 4_000;

type S3Settings = Pick<
  Config,
  'BLOB_S3_BUCKET' | 'BLOB_S3_REGION' | 'BLOB_S3_ENDPOINT' | 'BLOB_S3_ACCESS_KEY_ID' | 'BLOB_S3_SECRET_ACCESS_KEY'
> &
  Pick<Config, 'BLOB_S3_PREFIX'>;

/**
 * Opens a store in a bucket of Amazon S3 or of a compatible server. The operator sets its address, so requests do not
 * go through lib/egress (ARCHITECTURE.md explains why). The SDK is loaded with the first request, because most
 * processes never make one.
 */
export function s3Store(settings: S3Settings): BlobStore {
  const { BLOB_S3_BUCKET: bucket, BLOB_S3_ENDPOINT: endpoint = '', BLOB_S3_PREFIX: prefix } = settings;
  let client: Promise<Loaded> | undefined;
  const loaded = (): Promise<Loaded> => (client ??= load(settings));
  const target = (key: string) => ({ Bucket: bucket!, Key: `${prefix}${key}` });
  return {
    async put(key, bytes) {
      const { sdk, s3 } = await loaded();
      // The server compares the received bytes with this checksum, so that a truncated file is never stored.
      const ContentMD5 = createHash('md5').update(bytes).digest('base64');
      await s3.send(new sdk.PutObjectCommand({ ...target(key), Body: bytes, ContentLength: bytes.length, ContentMD5 }));
    },
    async *read(key, fromByte = 0) {
      const { sdk, s3 } = await loaded();
      const range = fromByte > 0 ? { Range: `bytes=${fromByte}-` } : {};
      const { Body: body } = await s3
        .send(new sdk.GetObjectCommand({ ...target(key), ...range }))
        .catch((error: unknown) => {
          throw (error as Error).name === 'NoSuchKey' ? new BlobMissing(key) : error;
        });
      for await (const chunk of body as unknown as AsyncIterable<Uint8Array>)
        yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    },
    async remove(key) {
      const { sdk, s3 } = await loaded();
      await s3.send(new sdk.DeleteObjectCommand(target(key)));
    },
    place: () =>
      Promise.resolve(
        `s3:${createHash('sha256').update([endpoint, bucket, prefix].join('\n')).digest('hex').slice(0, 16)}`,
      ),
    async check() {
      const { sdk, s3 } = await loaded();
      await s3
        .send(new sdk.HeadBucketCommand({ Bucket: bucket! }), { abortSignal: AbortSignal.timeout(CHECK_TIMEOUT_MS) })
        .catch((error: unknown) => {
          const { name, message, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
          const status = $metadata?.httpStatusCode;
          throw new Error(
            `the bucket ${bucket} (BLOB_S3_BUCKET) does not answer as it should: ${status ?? (message || name)}`,
            { cause: error },
          );
        });
    },
    close() {
      void client?.then(({ s3 }) => s3.destroy());
    },
  };
}

interface Loaded {
  sdk: typeof import('@aws-sdk/client-s3');
  s3: S3Client;
}

async function load(settings: S3Settings): Promise<Loaded> {
  const sdk = await import('@aws-sdk/client-s3');
  const {
    BLOB_S3_REGION: region,
    BLOB_S3_ENDPOINT: endpoint,
    BLOB_S3_ACCESS_KEY_ID: id,
    BLOB_S3_SECRET_ACCESS_KEY: secret,
  } = settings;
  const s3 = new sdk.S3Client({
    region: region!,
    // Servers other than Amazon's rarely support a separate host name for each bucket.
    ...(endpoint ? { endpoint, forcePathStyle: true } : {}),
    // Without explicit keys the SDK searches the AWS sources: environment, profile, role of the machine or pod.
    ...(id && secret ? { credentials: { accessKeyId: id, secretAccessKey: secret } } : {}),
    maxAttempts: 3,
    // Many servers do not support the newer checksums. Content-MD5 is used instead.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { requestTimeout: TIMEOUT_MS, connectionTimeout: TIMEOUT_MS / 6 },
  });
  return { sdk, s3 };
}
