import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Context } from '@opentelemetry/api';
import type { Config } from './config/index.ts';

/** What a span may say: ids and kinds. No addresses, no bodies, no text of people. */
type SpanAttributes = Record<string, string | number | boolean>;

interface SpanOptions {
  attributes?: SpanAttributes;
  /** The span that caused this one, in the form of W3C's `traceparent`; without it the one that is under way here. */
  parent?: string | undefined;
  /**
   * The span of somebody who asks, and whose word counts for nothing, in the same form: a new trace begins, which names it. A stranger may
   * choose neither whether something is recorded nor the id under which.
   */
  stranger?: string | undefined;
  kind?: 'server' | 'client' | 'internal';
}

interface Tracing {
  /** Sends what has not been sent yet, and switches tracing off. */
  stop(): Promise<void>;
}

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };
const TRACER = 'heron';
let isOn = false;

/**
 * Begins to record traces and to send them by OTLP over HTTP, where OTEL_EXPORTER_OTLP_ENDPOINT is set; undefined where it is not. Once per
 * process. The collector is the operator's own, like PostgreSQL, so it is not reached through lib/egress.
 */
export async function startTracing(config: Config, service: string): Promise<Tracing | undefined> {
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!endpoint || isOn) return undefined;
  // Loaded only here: a process without traces has nothing of it in memory.
  const [sdk, { OTLPTraceExporter }, { Resource }, { AsyncLocalStorageContextManager }, { W3CTraceContextPropagator }] =
    await Promise.all([
      import('@opentelemetry/sdk-trace-base'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/context-async-hooks'),
      import('@opentelemetry/core'),
    ]);
  const provider = new sdk.BasicTracerProvider({
    resource: new Resource({ 'service.name': `heron-${service}`, 'service.namespace': 'heron' }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(config.TRACE_SAMPLE_RATIO) }),
    spanProcessors: [new sdk.BatchSpanProcessor(new OTLPTraceExporter({ url: `${endpoint}/v1/traces` }))],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  isOn = true;
  return {
    async stop() {
      isOn = false;
      await provider.shutdown().catch(() => {});
      for (const api of [trace, context, propagation]) api.disable();
    },
  };
}

/** Does work in a span of its own, which ends with it and says whether it failed; without tracing the work alone. */
export function inSpan<T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T> {
  if (!isOn) return work();
  const parent = options.parent ? contextOf(options.parent) : context.active();
  const { kind = 'internal', attributes = {} } = options;
  const isFirst = 'stranger' in options;
  const asking = options.stranger ? trace.getSpanContext(contextOf(options.stranger)) : undefined;
  const how = { kind: KINDS[kind], attributes, root: isFirst, links: asking ? [{ context: asking }] : [] };
  return trace.getTracer(TRACER).startActiveSpan(name, how, parent, async (span) => {
    try {
      return await work();
    } catch (error) {
      // The name of the error alone: messages of servers and databases hold addresses.
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'error' });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Adds to the span that is under way. */
export function noteInSpan(attributes: SpanAttributes): void {
  if (isOn) trace.getActiveSpan()?.setAttributes(attributes);
}

/** The span that is under way, as `traceparent`, for what it causes in another process; undefined without tracing. */
export function traceparent(): string | undefined {
  if (!isOn) return undefined;
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

/** The ids of the span that is under way, for log lines and error answers; undefined without tracing. */
export function traceIds(): { trace_id: string; span_id: string } | undefined {
  const found = isOn ? trace.getActiveSpan()?.spanContext() : undefined;
  return found && { trace_id: found.traceId, span_id: found.spanId };
}

function contextOf(parent: string): Context {
  return propagation.extract(ROOT_CONTEXT, { traceparent: parent });
}
