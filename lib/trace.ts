import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Context } from '@opentelemetry/api';
import type { Config } from './config/index.ts';

/** Attributes of a span: only ids and kinds. No addresses, no bodies, no text of people. */
type SpanAttributes = Record<string, string | number | boolean>;

interface SpanOptions {
  attributes?: SpanAttributes;
  /** Parent span in the form of W3C's `traceparent`. Defaults to the active span. */
  parent?: string | undefined;
  /**
   * Span of an untrusted caller, in the same form. The new span starts a new trace with a link to that span, because a
   * stranger must choose neither the sampling nor the trace id.
   */
  stranger?: string | undefined;
  kind?: 'server' | 'client' | 'internal';
}

interface Tracing {
  /** Sends the remaining spans, and ends the recording of traces. */
  stop(): Promise<void>;
}

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };
const TRACER = 'heron';
let isOn = false;

/**
 * Starts recording traces and sending them by OTLP over HTTP. Returns undefined if OTEL_EXPORTER_OTLP_ENDPOINT is not
 * set. Call it once per process. The collector belongs to the operator, like PostgreSQL, so requests do not go through
 * lib/egress.
 */
export async function startTracing(config: Config, service: string): Promise<Tracing | undefined> {
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!endpoint || isOn) return undefined;
  // Imported lazily, so that a process without traces does not load it.
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

/** Runs work in its own span, which records a failure. Without tracing only the function runs. */
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
      // Records only the error's name: messages of servers and databases contain addresses.
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'error' });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Adds attributes to the active span. */
export function addSpanAttributes(attributes: SpanAttributes): void {
  if (isOn) trace.getActiveSpan()?.setAttributes(attributes);
}

/**
 * Returns the active span as `traceparent`, so that work in another process can continue the trace. Undefined without
 * tracing.
 */
export function traceparent(): string | undefined {
  if (!isOn) return undefined;
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

/** Returns the ids of the active span, for log lines and error answers. Undefined without tracing. */
export function traceIds(): { trace_id: string; span_id: string } | undefined {
  const found = isOn ? trace.getActiveSpan()?.spanContext() : undefined;
  return found && { trace_id: found.traceId, span_id: found.spanId };
}

function contextOf(parent: string): Context {
  return propagation.extract(ROOT_CONTEXT, { traceparent: parent });
}
