import type { Headers, WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { traceparent } from '../lib/trace.ts';

const HEADER = 'traceparent';

/** Adds the current trace span as a header to starts and signals. Does nothing if traces are not recorded. */
export const TRACE_HEADERS: WorkflowClientInterceptor = {
  start: (input, next) => next(withSpan(input)),
  startWithDetails: (input, next) => next(withSpan(input)),
  signal: (input, next) => next(withSpan(input)),
  signalWithStart: (input, next) => next(withSpan(input)),
};

/** Returns the trace span that caused an activity, from the activity's headers. */
export function causeOf(headers: Headers): string | undefined {
  const payload = headers[HEADER];
  return payload && defaultPayloadConverter.fromPayload<string>(payload);
}

function withSpan<Input extends { readonly headers: Headers }>(input: Input): Input {
  const span = traceparent();
  return span ? { ...input, headers: { ...input.headers, [HEADER]: defaultPayloadConverter.toPayload(span)! } } : input;
}
