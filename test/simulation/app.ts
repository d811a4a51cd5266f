import { EgressError, type Egress, type EgressResponse } from '../../lib/egress/index.ts';
import type { AppAnswer, LeadSpec, StepSpec } from './draw.ts';
import { message } from '../../messages/index.ts';

/**
 * Number of attempts of a call, and pause (ms) before the first retry, which doubles with each. Equal to the engine's
 * settings.
 */
const ATTEMPTS = 5;
const RETRY_MS = 2_000;

/** Returns the pause (ms) after a number of failed attempts of a call. */
export function retryAfter(failures: number): number {
  return RETRY_MS * 2 ** (failures - 1);
}

/** Returns the duration (ms) of a step that calls an app; Infinity if the call blocks the lead. */
export function appTakes({ onError }: Extract<StepSpec, { kind: 'app' }>, answer: AppAnswer = { kind: 'ok' }): number {
  const failed = onError === 'continue' ? 0 : Infinity;
  switch (answer.kind) {
    case 'ok':
      return 0;
    case 'late':
      return answer.ms;
    case 'refuses':
      return failed;
    case 'fails':
    case 'hangs': {
      let ms = 0;
      for (let n = 1; n <= Math.min(answer.times, ATTEMPTS - 1); n += 1) ms += retryAfter(n);
      return answer.times < ATTEMPTS ? ms : ms + failed;
    }
  }
}

/**
 * Simulated app of a customer. It answers each lead as the world specifies; a late answer waits until it is released.
 */
export class ScriptedApp {
  readonly port: Egress;
  readonly #leads: readonly LeadSpec[];
  readonly #places: ReadonlyMap<string, number>;
  readonly #failures = new Map<number, number>();
  #late: { ms: number; let: () => void } | undefined;
  #asked: (() => void) | undefined;

  /** @param places indexes of leads by contact id */
  constructor(base: Egress, leads: readonly LeadSpec[], places: ReadonlyMap<string, number>) {
    this.#leads = leads;
    this.#places = places;
    this.port = {
      request: ({ body }) => this.#answer(String(body)),
      check: (url, timeoutMs) => base.check(url, timeoutMs),
      close: () => Promise.resolve(),
    };
  }

  /** Makes a call. For a late answer, returns its delay (ms) and a function that releases it; otherwise the result. */
  async call<T>(make: () => Promise<T>): Promise<{ result: T } | { lateMs: number; finish: () => Promise<T> }> {
    this.#late = undefined;
    const asked = new Promise<void>((resolve) => (this.#asked = resolve));
    const result = make();
    await Promise.race([asked, result]);
    const late = this.#late as { ms: number; let: () => void } | undefined;
    if (!late) return { result: await result };
    const finish = (): Promise<T> => {
      late.let();
      return result;
    };
    return { lateMs: late.ms, finish };
  }

  async #answer(body: string): Promise<EgressResponse> {
    const lead = this.#places.get((JSON.parse(body) as { contact: { id: string } }).contact.id)!;
    const answer = this.#leads[lead]!.app ?? { kind: 'ok' };
    const waits =
      answer.kind === 'late' && new Promise<void>((resolve) => (this.#late = { ms: answer.ms, let: resolve }));
    this.#asked?.();
    if (waits) await waits;
    // Heron does not follow a redirect, so it counts as a refusal.
    if (answer.kind === 'refuses') return respond(lead % 2 === 0 ? 400 : 302);
    if (answer.kind === 'fails' || answer.kind === 'hangs') {
      const failures = (this.#failures.get(lead) ?? 0) + 1;
      this.#failures.set(lead, failures);
      if (failures <= answer.times) {
        if (answer.kind === 'fails') return respond(lead % 2 === 0 ? 503 : 429);
        throw new EgressError('timeout', 'exchange', message('egress.timeout'));
      }
    }
    return respond(200);
  }
}

function respond(status: number): EgressResponse {
  return { status, headers: {}, body: Buffer.from('{"ok":true}'), truncated: false } as unknown as EgressResponse;
}
