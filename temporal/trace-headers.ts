import type { Headers, WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { traceparent } from '../lib/trace.ts';

const HEADER = 'traceparent';

/** Adds the current span as a header to starts and signals; does nothing without tracing. */
export const TRACE_HEADERS: WorkflowClientInterceptor = {
  start: (input, next) => next(withSpan(input)),
  startWithDetails: (input, next) => next(withSpan(input)),
  signal: (input, next) => next(withSpan(input)),
  signalWithStart: (input, next) => next(withSpan(input)),
};

/** Returns the span that caused an activity, from its headers. */
export function causeOf(headers: Headers): string | undefined {
  const payload = headers[HEADER];
  return payload && defaultPayloadConverter.fromPayload<string>(payload);
}

function withSpan<Input extends { readonly headers: Headers }>(input: Input): Input {
  const span = traceparent();
  return span ? { ...input, headers: { ...input.headers, [HEADER]: defaultPayloadConverter.toPayload(span)! } } : input;
}
