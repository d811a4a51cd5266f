import { sha256 } from '../../../lib/crypto.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { queryCatalogue } from './query.ts';

/** A value in the catalogue, with its number of people. */
interface CatalogueFacet {
  key: string;
  count: number;
}

/** Contents of the catalogue, counted at the last load. */
interface CatalogueMetadata {
  people: number;
  companies: number;
  countries: CatalogueFacet[];
  seniorities: CatalogueFacet[];
  departments: CatalogueFacet[];
  /** Source and period of the data; empty if the load did not name them. */
  source: string;
  source_period: string;
}

const CACHE_MS = 3_600_000;

/**
 * Returns totals and facets of the whole catalogue, cached for an hour in Redis. Without Redis each process has its own
 * cache.
 * @throws AppError b2b_unavailable, b2b_query_failed
 */
export async function catalogueMetadata(ctx: Ctx): Promise<CatalogueMetadata> {
  // Identifies the catalogue in the cache key, because installations that share a Redis may have different catalogues.
  const which = sha256(ctx.config.PROSPECT_DB ?? '').slice(0, 16);
  const ask = async () => {
    const [metadata] = await queryCatalogue<CatalogueMetadata>(
      ctx,
      `select people::float8 as people, companies::float8 as companies, countries, seniorities, departments, source, source_period
       from catalogue_facts`,
    );
    return metadata!;
  };
  // Without a catalogue, the cache is not used, so that the error is reported.
  return ctx.catalogue ? ctx.cache.remember(`catalogue/${which}`, () => CACHE_MS, ask) : ask();
}
