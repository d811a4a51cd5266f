import type { CatalogueReader } from '../../db/catalogue/reader.ts';
import type { Ctx } from '../kernel/context.ts';
import { askCatalogue } from './ask.ts';

/** A value of the whole catalogue and how many people have it. */
export interface CatalogueFacet {
  key: string;
  count: number;
}

/** What the catalogue holds, counted when it was last loaded. */
export interface CatalogueMetadata {
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
const kept = new WeakMap<CatalogueReader, { metadata: CatalogueMetadata; until: number }>();

/**
 * Totals and facets of the whole catalogue; a process asks for them at most once an hour.
 * @throws AppError b2b_unavailable, b2b_query_failed
 */
export async function catalogueMetadata(ctx: Ctx): Promise<CatalogueMetadata> {
  const nowMs = ctx.clock.now().getTime();
  const known = ctx.catalogue && kept.get(ctx.catalogue);
  if (known && known.until > nowMs) return known.metadata;
  const [metadata] = await askCatalogue<CatalogueMetadata>(
    ctx,
    `select people::float8 as people, companies::float8 as companies, countries, seniorities, departments, source, source_period
     from catalogue_facts`,
  );
  kept.set(ctx.catalogue!, { metadata: metadata!, until: nowMs + KEPT_MS });
  return metadata!;
}
