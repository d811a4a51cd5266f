import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const IV_BYTES = 12;
const TAG_BYTES = 16;
const ID_BYTES = 4;
const KEY_BYTES = 32;
/** First byte of a sealed value: the version of its format. */
const SEAL_FORMAT = 2;

/** Encrypts stored secrets (mailbox credentials, signing secrets, replayable answers). */
export interface Keyring {
  /**
   * Encrypts `plain` (AES-256-GCM) under the current key, bound to `place` (lib/seal-places.ts). A sealed value that is
   * copied to another row cannot be decrypted.
   */
  seal(plain: string | Buffer, place: string): Buffer;
  /**
   * Decrypts a sealed value. Throws if the keyring does not have its key, the place is wrong, or a byte was changed.
   */
  open(sealed: Buffer, place: string): Buffer;
  /**
   * First bytes of every value that is sealed with the current key. A value with another prefix must be sealed again.
   */
  readonly currentPrefix: Buffer;
  /**
   * Ids of the keys in hex, the current key first. Sealed values contain the id of their key, and backups list the ids.
   */
  readonly keyIds: readonly string[];
  readonly tracking: TrackingKeys;
}

/**
 * Keys of tracking tokens. They are derived from the keys of the keyring, so that a token reveals nothing about the
 * encryption keys. Links in sent emails must keep working, so tokens created with any key are accepted.
 */
interface TrackingKeys {
  /** Key for new tokens. */
  readonly current: Buffer;
  /** Keys of accepted tokens. */
  readonly accepted: readonly Buffer[];
}

interface Key {
  id: Buffer;
  bytes: Buffer;
}

/**
 * Creates a keyring. CREDENTIALS_ENCRYPTION_KEY (64 hex characters) encrypts; the former keys
 * (CREDENTIALS_PREVIOUS_KEYS) only decrypt.
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

/**
 * Creates the keyring of the tracking process, which has no key of stored secrets.
 * @param keys tracking keys in hex (TRACKING_KEYS), the current one first
 */
export function createTrackingKeyring(keys: readonly string[]): Keyring {
  const [current, ...previous] = keys.map((key) => Buffer.from(key, 'hex'));
  const refuse = (): never => {
    throw new Error('the tracking process has no key of stored secrets');
  };
  return {
    seal: refuse,
    open: refuse,
    currentPrefix: Buffer.alloc(0),
    keyIds: [],
    tracking: { current: current!, accepted: [current!, ...previous] },
  };
}

/** Returns the id (hex) of the key with which a value was sealed. Undefined if the value is no seal. */
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
