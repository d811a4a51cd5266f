import { sha256 } from '../../../lib/crypto.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { askCatalogue } from './ask.ts';

/** A value of the whole catalogue and how many people have it. */
interface CatalogueFacet {
  key: string;
  count: number;
}

/** What the catalogue holds, counted when it was last loaded. */
interface CatalogueMetadata {
  people: number;
  companies: number;
  countries: CatalogueFacet[];
  seniorities: CatalogueFacet[];
  departments: CatalogueFacet[];
  /** Whose data it is, and of which time; empty where the load did not say it. */
  source: string;
  source_period: string;
}

const KEPT_MS = 3_600_000;

/**
 * Totals and facets of the whole catalogue; the installation asks for them at most once an hour, each process for itself where there is no Redis.
 * @throws AppError b2b_unavailable, b2b_query_failed
 */
export async function catalogueMetadata(ctx: Ctx): Promise<CatalogueMetadata> {
  // Installations on one Redis may have catalogues of their own.
  const which = sha256(ctx.config.PROSPECT_DB ?? '').slice(0, 16);
  const ask = async () => {
    const [metadata] = await askCatalogue<CatalogueMetadata>(
      ctx,
      `select people::float8 as people, companies::float8 as companies, countries, seniorities, departments, source, source_period
       from catalogue_facts`,
    );
    return metadata!;
  };
  // Without a catalogue the answer is that there is none, whatever is remembered.
  return ctx.catalogue ? ctx.cache.remember(`catalogue/${which}`, () => KEPT_MS, ask) : ask();
}
