import type { Headers, WorkflowInterceptors } from '@temporalio/workflow';

/** The header that carries the span which caused a run, a signal or an activity; set by processes that record traces. */
const HEADER = 'traceparent';

/**
 * Hands the trace of what moved a run on to what the run does: a start or the latest signal to activities and to the run that continues it. It
 * adds a header where there is one, and commands stay what they are, so that recorded histories replay.
 */
export function interceptors(): WorkflowInterceptors {
  let cause: Headers[string] | undefined;
  const withCause = <Input extends { readonly headers: Headers }>(input: Input): Input =>
    cause ? { ...input, headers: { ...input.headers, [HEADER]: cause } } : input;
  return {
    inbound: [
      {
        execute(input, next) {
          cause = input.headers[HEADER] ?? cause;
          return next(input);
        },
        handleSignal(input, next) {
          cause = input.headers[HEADER] ?? cause;
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(withCause(input)),
        scheduleLocalActivity: (input, next) => next(withCause(input)),
        continueAsNew: (input, next) => next(withCause(input)),
      },
    ],
  };
}
