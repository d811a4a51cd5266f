import { createEgress, type Egress } from '../../../lib/egress/index.ts';
import { signInToTransport } from '../../../lib/mail/index.ts';
import { pingBus } from '../../../lib/event-bus.ts';
import { pingRedis } from '../../../lib/rate-limit.ts';
import { withTimeout } from '../../../lib/with-timeout.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { message } from '../../../messages/index.ts';
import type { FoundMessages } from './findings.ts';
import { PartError, partErrorMessage } from './part-error.ts';
import { readUpdate } from './update.ts';

/** Timeout (ms) for the response of each part. */
const PATIENCE_MS = 5_000;
const MAX_ANSWER_BYTES = 64 * 1024;

/** Queries the other parts of the installation in parallel and returns the findings. */
export async function partFindings(deps: Deps): Promise<FoundMessages> {
  // Allows private addresses, because the addresses come from the operator's settings.
  const egress = createEgress({ allowUnsafe: true });
  try {
    const found = await Promise.all([
      presence(deps),
      update(deps),
      complaint('tracking_domain_unreachable', () => answersHealth(egress, deps.config.TRACKING_DOMAIN)),
      complaint('websocket_unreachable', async () => {
        await answersHealth(egress, deps.config.REALTIME_PUBLIC_URL);
        if (deps.config.EVENTBUS_PROVIDER === 'nats') await answersBus(deps.config.NATS_URL!);
      }),
      complaint('oidc_discovery_failed', () => isDiscovered(egress, deps.config.API_PUBLIC_URL)),
      deps.config.MAIL_TRANSPORT !== 'log' &&
        complaint('mail_preflight_failed', () => answered(PATIENCE_MS, signInToTransport(deps.config))),
      deps.config.REDIS_URL !== undefined &&
        complaint('redis_unreachable', () => pingRedis(deps.config.REDIS_URL!, PATIENCE_MS)),
    ]);
    return Object.assign({}, ...found) as FoundMessages;
  } finally {
    await egress.close();
  }
}

async function presence({ workflows }: Deps): Promise<FoundMessages> {
  try {
    const { workers, unserved } = await answered(PATIENCE_MS, workflows.health());
    if (workers === 0) return { no_worker_heartbeat: message('finding.no_worker_heartbeat') };
    if (unserved.length === 0) return {};
    return { no_worker_heartbeat: message('finding.no_worker_heartbeat.part', { roles: unserved.join(', ') }) };
  } catch (error) {
    return { fleet_infra_unreachable: message('finding.fleet_infra_unreachable', { error: partErrorMessage(error) }) };
  }
}

async function update(deps: Deps): Promise<FoundMessages> {
  const { state, newest, running } = await readUpdate(deps);
  if (state === 'unreachable')
    return { updater_unreachable: message('finding.updater_unreachable', { url: deps.config.UPDATE_FEED_URL! }) };
  if (state !== 'available') return {};
  const versions = { newest: newest!.version, running: running.version };
  return { update_available: message('finding.update_available', versions) };
}

/** @throws Error if the process at the address does not report that it is healthy */
async function answersHealth(egress: Egress, address: string): Promise<void> {
  const { status } = await egress.request(get(`${address}/health`));
  if (status !== 200) throw new PartError(message('part.status', { url: `${address}/health`, status }));
}

/**
 * @throws Error when NATS, which notifies the gateways of events, does not respond; the gateways then poll every second
 */
async function answersBus(url: string): Promise<void> {
  await pingBus(url, PATIENCE_MS).catch((error: unknown) => {
    throw new PartError(message('part.nats', { error: partErrorMessage(error) }));
  });
}

/** @throws Error when the authorization server's metadata is missing at the API's address or names another issuer */
async function isDiscovered(egress: Egress, address: string): Promise<void> {
  const url = `${address}/.well-known/oauth-authorization-server`;
  const { status, body } = await egress.request(get(url));
  if (status !== 200) throw new PartError(message('part.status', { url, status }));
  const { issuer } = JSON.parse(body.toString('utf8')) as { issuer?: string };
  if (issuer === undefined) throw new PartError(message('part.no_issuer', { url }));
  if (issuer !== address) throw new PartError(message('part.issuer', { url, issuer }));
}

const get = (url: string) =>
  ({ method: 'GET', url, timeoutMs: PATIENCE_MS, maxResponseBytes: MAX_ANSWER_BYTES }) as const;

/** Codes of findings whose message is the error of a queried part. */
type Complaint =
  | 'tracking_domain_unreachable'
  | 'websocket_unreachable'
  | 'oidc_discovery_failed'
  | 'mail_preflight_failed'
  | 'redis_unreachable';

async function complaint(code: Complaint, ask: () => Promise<void>): Promise<FoundMessages> {
  return ask().then(
    () => ({}),
    (error: unknown) => ({ [code]: message(`finding.${code}`, { error: partErrorMessage(error) }) }),
  );
}

/** @throws Error if there is no response within `timeoutMs` */
async function answered<T>(timeoutMs: number, answer: Promise<T>): Promise<T> {
  return withTimeout(answer, timeoutMs, () => {
    throw new PartError(message('part.silent', { seconds: timeoutMs / 1000 }));
  });
}
