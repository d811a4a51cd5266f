import { EgressError, type EgressPhase } from '../../../lib/egress/index.ts';
import { newId } from '../../../lib/ids.ts';
import { message, type Message } from '../../../messages/index.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { getAppConnection, openSecret } from './connections.ts';
import { sendSigned } from './signed-request.ts';

/** Result of testing an app connection, step by step (POST /app-connections/:id/test). */
interface ConnectionCheck {
  dns: boolean;
  /** False for a plain http URL, which only development allows. */
  tls: boolean;
  connection: boolean;
  /** True if the app answered any 2xx to a signed ping. */
  authentication: boolean;
  /** HTTP status. It is 0 if there was no response. */
  status: number;
  latencyMs: number;
  error?: { said: Message; fix: Message };
}

const PING_TIMEOUT_MS = 10_000;
const PHASES: readonly EgressPhase[] = ['check', 'dns', 'connect', 'tls', 'exchange'];

/** Advice for a failure, by the phase in which the request failed. */
const FIXES: Record<EgressPhase, Message> = {
  check: message('connect.ping_check.fix'),
  dns: message('connect.ping_dns.fix'),
  connect: message('connect.ping_connect.fix'),
  tls: message('connect.ping_tls.fix'),
  exchange: message('connect.ping_exchange.fix'),
};

/**
 * Sends a signed app.ping and reports each step it passed. A fault of the app is a result, not an error. Call outside
 * of a transaction: the ping waits on the network.
 * @throws AppError not_found
 */
export async function testAppConnection(ctx: Ctx, id: string): Promise<ConnectionCheck> {
  const connection = await getAppConnection(ctx, id);
  const eventId = `ping:${newId()}`;
  const usesTls = connection.base_url.startsWith('https:');
  const started = performance.now();
  const latencyMs = () => Math.round(performance.now() - started);
  try {
    const { status } = await sendSigned(ctx, {
      event: 'app.ping',
      eventId,
      url: connection.base_url,
      secret: openSecret(ctx, connection),
      body: { id: eventId, run_mode: 'test', ping: true, requested_at: ctx.clock.now().toISOString() },
      timeoutMs: PING_TIMEOUT_MS,
    });
    const authentication = status >= 200 && status < 300;
    return {
      dns: true,
      tls: usesTls,
      connection: true,
      authentication,
      status,
      latencyMs: latencyMs(),
      ...(authentication
        ? {}
        : {
            error: { said: message('connect.ping_status', { status }), fix: statusFix(status) },
          }),
    };
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    const reached = (phase: EgressPhase) => PHASES.indexOf(error.phase) > PHASES.indexOf(phase);
    return {
      dns: reached('dns'),
      connection: reached('connect'),
      tls: usesTls && reached('tls'),
      authentication: false,
      status: 0,
      latencyMs: latencyMs(),
      error: { said: error.said, fix: FIXES[error.phase] },
    };
  }
}

function statusFix(status: number): Message {
  if (status === 401 || status === 403) return message('connect.ping_signature.fix');
  if (status >= 300 && status < 400) return message('connect.ping_redirect.fix');
  if (status === 404 || status === 405) return message('connect.ping_method.fix');
  return message('connect.ping_status.fix');
}
