/** Where the bytes of a file can be: in PostgreSQL, in a folder, or in a bucket. */
export type BlobStoreName = 'postgres' | 'disk' | 's3';

/** A place for bytes outside of PostgreSQL. Keys are made by domain/operations/system/move-blobs.ts, are never used twice, and hold no names of people. */
export interface BlobStore {
  /** Stores all bytes under a key, or throws; may be repeated. */
  put(key: string, bytes: Buffer): Promise<void>;
  /**
   * The bytes under a key, from an offset on.
   * @throws BlobMissing when there is nothing under the key
   */
  read(key: string, fromByte?: number): AsyncIterable<Buffer>;
  /** Deletes what is under a key; nothing there is no error. */
  remove(key: string): Promise<void>;
  /**
   * Which place this is, as two processes can compare it: the same text where both see the same files.
   * @param mark whether to mark the place where it has no mark yet; without, an unmarked one is null
   */
  place(mark: boolean): Promise<string | null>;
  /** @throws Error that says why files cannot be stored there */
  check(): Promise<void>;
  close(): void;
}

/** There are no bytes under a key. */
export class BlobMissing extends Error {
  constructor(key: string) {
    super(`there is no file under ${key}`);
    this.name = 'BlobMissing';
  }
}
