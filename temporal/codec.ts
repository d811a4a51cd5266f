import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { Config } from '../lib/config/index.ts';

/** As in the encryption samples of Temporal's SDKs, so that a codec server written after those reads what Heron writes. */
const ENCODING = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';
const IV_BYTES = 12;
const TAG_BYTES = 16;

type CodecSettings = Pick<Config, 'CODEC_PROVIDER' | 'CODEC_KEYS'>;
const message = proto.temporal.api.common.v1.Payload;

/**
 * How arguments, results, signals, memos and summaries look to Temporal, for clients, workers and replays alike. With keys, what was written
 * under any of them is read, whatever CODEC_PROVIDER says now; what is in the clear is always read.
 */
export function dataConverter(config: CodecSettings): { dataConverter?: DataConverter } {
  return config.CODEC_KEYS.length === 0 ? {} : { dataConverter: { payloadCodecs: [createCodec(config)] } };
}

/** Ids of the keys that these settings have, the one that encrypts first. */
export function codecKeyIds({ CODEC_KEYS: keys }: CodecSettings): string[] {
  return keys.map(({ id }) => id);
}

/**
 * AES-256-GCM over whole payloads. The first of CODEC_KEYS encrypts, where CODEC_PROVIDER asks for it; every payload names its key.
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

/** @throws Error when the bytes are not as they were written */
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
