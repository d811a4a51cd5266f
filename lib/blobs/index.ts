import type { Config } from '../config/index.ts';
import { diskStore } from './disk.ts';
import { s3Store } from './s3.ts';
import type { BlobStore, BlobStoreName } from './store.ts';

export { BlobMissing, type BlobStore, type BlobStoreName } from './store.ts';

/**
 * Blob stores configured by the settings. Old files stay readable in their store when new files are stored elsewhere.
 */
export interface BlobStores {
  /** Value of BLOB_PROVIDER: the store for new files. */
  readonly provider: BlobStoreName;
  /**
   * Returns a store outside PostgreSQL.
   * @throws Error naming the missing settings
   */
  outside(name: Exclude<BlobStoreName, 'postgres'>): BlobStore;
  /** Store that BLOB_PROVIDER names. Undefined if the provider is PostgreSQL. */
  readonly current: BlobStore | undefined;
  close(): void;
}

/** Creates the stores from the settings. Each store is opened at its first use. */
export function openBlobStores(config: Config): BlobStores {
  const stores = {
    disk: config.BLOB_ROOT ? diskStore(config.BLOB_ROOT) : undefined,
    s3: config.BLOB_S3_BUCKET ? s3Store(config) : undefined,
  };
  const needs = { disk: 'BLOB_ROOT', s3: 'BLOB_S3_BUCKET and BLOB_S3_REGION' };
  const { BLOB_PROVIDER: provider } = config;
  return {
    provider,
    outside(name) {
      const store = stores[name];
      if (!store) throw new Error(`a file is kept in ${name}, for which ${needs[name]} must be set`);
      return store;
    },
    current: provider === 'postgres' ? undefined : stores[provider],
    close() {
      for (const store of Object.values(stores)) store?.close();
    },
  };
}
