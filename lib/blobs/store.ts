/** Storage of file contents: PostgreSQL, a folder, or a bucket. */
export type BlobStoreName = 'postgres' | 'disk' | 's3';

/**
 * Storage for file contents outside PostgreSQL. Keys come from domain/operations/system/move-blobs.ts, are never used
 * twice, and contain no names of people.
 */
export interface BlobStore {
  /** Stores all bytes under a key, or throws. Repeating the call is safe. */
  put(key: string, bytes: Buffer): Promise<void>;
  /**
   * Reads the bytes of a key from an offset on.
   * @throws BlobMissing when the key does not exist
   */
  read(key: string, fromByte?: number): AsyncIterable<Buffer>;
  /** Deletes the bytes of a key. A missing key is no error. */
  remove(key: string): Promise<void>;
  /**
   * Returns an identifier of this storage. Two processes get the same identifier if and only if they use the same
   * files.
   * @param mark true to create a missing marker; if false, the result is null for storage without a marker
   */
  place(mark: boolean): Promise<string | null>;
  /**
   * Checks that files can be stored.
   * @throws Error naming the reason
   */
  check(): Promise<void>;
  close(): void;
}

/** Thrown when no blob exists under the key. */
export class BlobMissing extends Error {
  constructor(key: string) {
    super(`there is no file under ${key}`);
    this.name = 'BlobMissing';
  }
}
