import type { Headers, WorkflowInterceptors } from '@temporalio/workflow';

/** Header with the trace span that caused a start, a signal or an activity. Set by processes that record traces. */
const HEADER = 'traceparent';

/**
 * Passes the trace of the start or of the latest signal on to activities and to the next run of the workflow. It only
 * adds a header and changes no commands, so that recorded histories can be replayed.
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
