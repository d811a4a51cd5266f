import { across } from '../../../db/across.ts';
import type { Columns } from '../../../db/rows.ts';
import { externalText } from '../../platform/external-text.ts';
import { PartError, partErrorMessage } from './part-error.ts';
import { withTimeout } from '../../../lib/with-timeout.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { joined, message, type Message } from '../../../messages/index.ts';
import type { FoundMessages } from './findings.ts';

/** Timeout (ms) for a response of the file store. */
const PATIENCE_MS = 5_000;
/** A worker is treated as alive if it has written to its row within this time (ms). */
export const ALIVE_MS = 8_000;

/**
 * Checks whether the live processes are compatible: they must access the same file store and be able to read each
 * other's data in Temporal. The database must have the schema of this build.
 */
export async function fleetFindings({
  db,
  config,
  blobs,
}: Pick<Deps, 'db' | 'config' | 'blobs'>): Promise<FoundMessages> {
  const [workers, place] = await Promise.all([
    across(db, 'operator').sql<Columns<'workers', 'blob_place' | 'codec_keys'>>(
      `select blob_place, codec_keys from workers where seen_at > now() - ${ALIVE_MS} * interval '1 millisecond' order by started_at`,
    ),
    placeOf(blobs),
  ]);
  return {
    ...place.found,
    codec_registry: keyDifference(
      config.CODEC_KEYS.map(({ id }) => id),
      workers.map(({ codec_keys: keys }) => keys),
    ),
    fleet_blobs_not_shared: placeDifference(
      place.id,
      workers.map(({ blob_place: id }) => id),
    ),
  };
}

async function placeOf({ current }: Deps['blobs']): Promise<{ found: FoundMessages; id: string | null }> {
  if (!current) return { found: {}, id: null };
  try {
    await withTimeout(current.check(), PATIENCE_MS, () => {
      throw new PartError(message('part.silent', { seconds: PATIENCE_MS / 1000 }));
    });
    return { found: {}, id: await current.place(false) };
  } catch (error) {
    return {
      found: { blob_root_missing: message('finding.blob_root_missing', { error: partErrorMessage(error) }) },
      id: null,
    };
  }
}

function keyDifference(ours: readonly string[], theirs: readonly (readonly string[])[]): Message | undefined {
  const named = (ids: readonly string[]) => [...ids].sort().join(', ');
  const other = theirs.find((ids) => named(ids) !== named(ours));
  const shown = (ids: readonly string[]) => (ids.length === 0 ? message('part.no_keys') : externalText(named(ids)));
  return other && message('finding.codec_registry', { ours: shown(ours), theirs: shown(other) });
}

/**
 * Returns a finding if the file stores of the processes differ. `ours` and `theirs` contain the ids of the stores. An
 * id is null for files in PostgreSQL, and for a store without a marker.
 */
function placeDifference(ours: string | null, theirs: readonly (string | null)[]): Message | undefined {
  const places = new Set([ours, ...theirs]);
  if (places.size < 2) return undefined;
  const shown = [...places].map((place) => (place === null ? message('part.unmarked_place') : externalText(place)));
  return message('finding.fleet_blobs_not_shared', { places: joined(shown) });
}
