import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const IV_BYTES = 12;
const TAG_BYTES = 16;
const ID_BYTES = 4;
const KEY_BYTES = 32;
/** First byte of a seal: its format. */
const SEAL_FORMAT = 2;

/** Encrypts what is stored (mailbox credentials, signing secrets, replayable answers). */
export interface Keyring {
  /** AES-256-GCM of `plain` under the current key, bound to `place` (lib/seal-places.ts): moved to another row it no longer opens. */
  seal(plain: string | Buffer, place: string): Buffer;
  /** The plain bytes. Throws when no key of the ring fits, or the place or a byte is wrong. */
  open(sealed: Buffer, place: string): Buffer;
  /** How every seal under the current key begins; one that begins otherwise is to be sealed again. */
  readonly currentPrefix: Buffer;
  /** The ids of the keys, as hex, the current one first: what a seal names, and what a backup says it needs. */
  readonly keyIds: readonly string[];
  readonly tracking: TrackingKeys;
}

/**
 * Keys of tracking tokens, derived from the keys of the ring, so that a token says nothing of what seals secrets. Links in
 * mail that has left must work on: tokens of every key of the ring count.
 */
interface TrackingKeys {
  /** Makes new tokens. */
  readonly current: Buffer;
  /** All that a token may have been made with. */
  readonly accepted: readonly Buffer[];
}

interface Key {
  id: Buffer;
  bytes: Buffer;
}

/**
 * A keyring over CREDENTIALS_ENCRYPTION_KEY (64 hex characters), which seals, and the keys before it
 * (CREDENTIALS_PREVIOUS_KEYS), which only open.
 */
export function createKeyring(current: string, previous: readonly string[] = []): Keyring {
  const ring = [current, ...previous].map(readKey);
  const tracking = ring.map(({ bytes }) => derive(bytes, 'heron/tracking', KEY_BYTES));
  const [newest] = ring as [Key, ...Key[]];
  const currentPrefix = Buffer.concat([Buffer.from([SEAL_FORMAT]), newest.id]);
  return {
    currentPrefix,
    keyIds: ring.map(({ id }) => id.toString('hex')),
    tracking: { current: tracking[0]!, accepted: tracking },
    seal(plain, place) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', newest.bytes, iv);
      cipher.setAAD(Buffer.from(place));
      const body = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([currentPrefix, iv, cipher.getAuthTag(), body]);
    },
    open(sealed, place) {
      const key = sealed[0] === SEAL_FORMAT && ring.find(({ id }) => id.equals(sealed.subarray(1, 1 + ID_BYTES)));
      if (!key) throw new Error('sealed value is unreadable: its key is not in the ring');
      return decrypt(key, sealed.subarray(1 + ID_BYTES), place);
    },
  };
}

/** The id of the key that a sealed value names, as hex; undefined where it is no seal. */
export function keyIdOf(prefix: Buffer): string | undefined {
  return prefix[0] === SEAL_FORMAT ? prefix.subarray(1, 1 + ID_BYTES).toString('hex') : undefined;
}

function readKey(hex: string): Key {
  const bytes = Buffer.from(hex, 'hex');
  if (bytes.length !== KEY_BYTES) throw new Error('an encryption key must be 64 hex characters');
  return { bytes, id: derive(bytes, 'heron/key-id', ID_BYTES) };
}

function decrypt({ bytes }: Key, sealed: Buffer, place: string): Buffer {
  if (sealed.length < IV_BYTES + TAG_BYTES) throw new Error('sealed value is unreadable');
  const decipher = createDecipheriv('aes-256-gcm', bytes, sealed.subarray(0, IV_BYTES));
  decipher.setAAD(Buffer.from(place));
  decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
}

function derive(key: Buffer, purpose: string, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), purpose, length));
}
