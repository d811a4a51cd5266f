import { LRUCache } from 'lru-cache';
import { listen } from '../../../db/listen.ts';
import type { Metrics } from '../../../lib/metrics.ts';
import { createWakeable, type Wakeable } from '../../../lib/wakeable.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { openWebhookSecret, type SealedSecret } from './secrets.ts';
import { SeenFailures } from './breaker.ts';
import { BATCH_CHANNEL } from './channel.ts';
import { Lanes } from './lanes.ts';
import { createSettler, type Settler } from './settle.ts';

/**
 * Time (ms) after which an open request marks its endpoint as slow. Shared batches then move the endpoint's deliveries
 * to its own batch.
 */
const SLOW_MS = 2_000;

/**
 * Time (ms) without a new delivery after which a batch is closed. A delivery added before needs no new workflow, whose
 * start other organizations' workflows could delay.
 */
const IDLE_MS = 30_000;
/**
 * Replaces {@link IDLE_MS} while a large share ({@link CROWDED_SHARE}) of the worker's activities waits for deliveries.
 * The shorter wait frees activities for other batches.
 */
const CROWDED_IDLE_MS = 1_500;
const CROWDED_SHARE = 1 / 8;

/** State shared by all deliveries of one process. */
export interface DeliveryEngine {
  deps: Deps;
  lanes: Lanes;
  failures: SeenFailures;
  settler: Settler;
  /** Returns a signing secret in plain text. */
  openSecret(secret: SealedSecret): string;
  /** Returns the time (ms) for which a batch waits for more deliveries. Returns 0 once the process stops. */
  idleMs(): number;
  /** Starts to watch an open batch. */
  watch(batchId: string): BatchWatch;
  /** Closes all batches without waiting for more deliveries, because the process stops. */
  drain(): void;
  close(): Promise<void>;
}

/** Detects deliveries added to an open batch since the watch was created. */
interface BatchWatch {
  /** Resolves when deliveries were added since the last call, or after `ms`. */
  more(ms: number): Promise<void>;
  close(): void;
}

/** Creates the delivery engine, which a process needs once. */
export async function createDeliveryEngine(
  deps: Deps,
  metrics: Metrics,
  { idleMs = IDLE_MS }: { idleMs?: number } = {},
): Promise<DeliveryEngine> {
  const watched = new Map<string, Wakeable>();
  let isDraining = false;
  const listener = await listen(
    deps.config.PRIMARY_DB,
    BATCH_CHANNEL,
    (batchId) => {
      watched.get(batchId)?.wake();
      // The listener passes an empty batch id after each new connection, which may have missed notifications.
      if (batchId === '') for (const additions of watched.values()) additions.wake();
    },
    deps.log,
  );
  return {
    deps,
    lanes: new Lanes({
      limit: deps.config.WEBHOOK_ENDPOINT_CONCURRENCY,
      slowMs: SLOW_MS,
      requestMs: deps.config.WEBHOOK_TIMEOUT_MS,
    }),
    failures: new SeenFailures(),
    settler: createSettler(deps, metrics),
    openSecret: rememberingOpener(deps),
    idleMs() {
      if (isDraining) return 0;
      const isCrowded = watched.size > deps.config.WORKER_ACTIVITIES * CROWDED_SHARE;
      return isCrowded ? Math.min(idleMs, CROWDED_IDLE_MS) : idleMs;
    },
    drain() {
      isDraining = true;
      for (const additions of watched.values()) additions.wake();
    },
    watch(batchId) {
      const additions = createWakeable();
      watched.set(batchId, additions);
      return { more: (ms) => additions.pause(ms), close: () => void watched.delete(batchId) };
    },
    close: () => listener.close(),
  };
}

const REMEMBERED_SECRETS = 5_000;

/**
 * Returns a function that decrypts secrets and caches the last used ones. This is safe because the secret of an id
 * never changes.
 */
function rememberingOpener({ keyring }: Deps): (secret: SealedSecret) => string {
  const opened = new LRUCache<string, string>({ max: REMEMBERED_SECRETS });
  return (secret) => {
    const plain = opened.get(secret.id) ?? openWebhookSecret(keyring, secret);
    opened.set(secret.id, plain);
    return plain;
  };
}
