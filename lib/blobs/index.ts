import type { Config } from '../config/index.ts';
import { diskStore } from './disk.ts';
import { s3Store } from './s3.ts';
import type { BlobStore, BlobStoreName } from './store.ts';

export { BlobMissing, type BlobStore, type BlobStoreName } from './store.ts';

/** The stores that the settings name. Files stay readable in each of them, whichever takes new ones. */
export interface BlobStores {
  /** BLOB_PROVIDER: where files belong. */
  readonly provider: BlobStoreName;
  /**
   * A store outside of PostgreSQL.
   * @throws Error naming the settings that it needs and does not have
   */
  outside(name: Exclude<BlobStoreName, 'postgres'>): BlobStore;
  /** The store of BLOB_PROVIDER; undefined while that is PostgreSQL. */
  readonly current: BlobStore | undefined;
  close(): void;
}

/** The stores of the settings. Nothing is opened before it is used. */
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
