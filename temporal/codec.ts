import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { Config } from '../lib/config/index.ts';

/**
 * Encoding name from the encryption samples of Temporal's SDKs, so that codec servers based on these samples can read
 * Heron's payloads.
 */
const ENCODING = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';
const IV_BYTES = 12;
const TAG_BYTES = 16;

type CodecSettings = Pick<Config, 'CODEC_PROVIDER' | 'CODEC_KEYS'>;
const message = proto.temporal.api.common.v1.Payload;

/**
 * Returns the data converter for arguments, results, signals, memos and summaries, for clients, workers and replays. It
 * reads payloads encrypted with any configured key, regardless of CODEC_PROVIDER, and unencrypted payloads.
 */
export function dataConverter(config: CodecSettings): { dataConverter?: DataConverter } {
  return config.CODEC_KEYS.length === 0 ? {} : { dataConverter: { payloadCodecs: [createCodec(config)] } };
}

/** Returns the ids of the configured keys. The first one is used for encryption. */
export function codecKeyIds({ CODEC_KEYS: keys }: CodecSettings): string[] {
  return keys.map(({ id }) => id);
}

/**
 * Creates a codec that encrypts whole payloads with AES-256-GCM. The first of CODEC_KEYS encrypts if CODEC_PROVIDER
 * enables it; every payload contains the id of its key.
 */
export function createCodec({ CODEC_PROVIDER: provider, CODEC_KEYS: keys }: CodecSettings): PayloadCodec {
  const [newest] = keys;
  return {
    encode: async (payloads) =>
      provider === 'none' || !newest ? payloads : payloads.map((payload) => encrypt(payload, newest)),
    decode: async (payloads) =>
      payloads.map((payload) => {
        if (textOf(payload, 'encoding') !== ENCODING) return payload;
        const id = textOf(payload, KEY_ID);
        const key = keys.find((each) => each.id === id);
        if (!key)
          throw new Error(`a payload of Temporal is encrypted with the key ${id}, which CODEC_KEYS does not have`);
        return decrypt(payload, key.bytes);
      }),
  };
}

function encrypt(payload: Payload, { id, bytes: key }: Config['CODEC_KEYS'][number]): Payload {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv);
  const body = Buffer.concat([cipher.update(message.encode(payload).finish()), cipher.final()]);
  return {
    metadata: { encoding: Buffer.from(ENCODING), [KEY_ID]: Buffer.from(id) },
    data: Buffer.concat([iv, body, cipher.getAuthTag()]),
  };
}

/** Decrypts a payload. @throws Error if its bytes were modified */
function decrypt({ data }: Payload, key: Buffer): Payload {
  if (!data || data.length < IV_BYTES + TAG_BYTES) throw new Error('an encrypted payload of Temporal is cut off');
  const end = data.length - TAG_BYTES;
  const decipher = createDecipheriv('aes-256-gcm', key, data.subarray(0, IV_BYTES));
  decipher.setAuthTag(data.subarray(end));
  const plain = Buffer.concat([decipher.update(data.subarray(IV_BYTES, end)), decipher.final()]);
  return message.decode(plain) as Payload;
}

function textOf({ metadata }: Payload, name: string): string | undefined {
  const value = metadata?.[name];
  return value ? Buffer.from(value).toString() : undefined;
}
