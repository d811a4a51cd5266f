/** A field of a request that Heron refuses, and why. */
export interface Problem {
  path: string;
  message: string;
  /** The stable name of `message`, with its values, for a program that says it in words of its own. */
  code?: string;
  values?: Values;
}

/** Values of a message by name: text, numbers, lists of text, or a message within it. */
type Values = Readonly<Record<string, unknown>>;

/** The body of an error, as far as it is one of Heron's. */
interface ErrorBody {
  message?: string;
  code?: string;
  problems?: Problem[];
  fix?: string;
  request_id?: string;
  message_code?: string;
  message_values?: Values;
}

/** An answer of Heron that is an error: what it says, and what to do. `message` has all of it in one line. */
export class HeronError extends Error {
  override readonly name = 'HeronError';
  readonly status: number;
  /** What Heron says, without the problems and the fix. */
  readonly said: string;
  /** The stable name of `said`, with its values, for a program that says it in words of its own. */
  readonly messageCode: string | undefined;
  readonly messageValues: Values | undefined;
  /** The stable name of the error, such as `not_found`; empty where the answer was none of Heron's. */
  readonly code: string;
  /** Every field that is refused. */
  readonly problems: readonly Problem[];
  readonly fix: string | undefined;
  /** Under which the operator finds the request in the log. */
  readonly requestId: string | undefined;

  constructor(status: number, body: unknown) {
    const {
      message,
      code = '',
      problems = [],
      fix,
      request_id,
      message_code,
      message_values,
    } = (isObject(body) ? body : {}) as ErrorBody;
    const said = message ?? `Heron answered ${status}`;
    super([said, ...problems.map((problem) => `${problem.path} ${problem.message}`), ...(fix ? [fix] : [])].join('; '));
    this.status = status;
    this.said = said;
    this.messageCode = message_code;
    this.messageValues = message_values;
    this.code = code;
    this.problems = problems;
    this.fix = fix;
    this.requestId = request_id;
  }
}

const isObject = (body: unknown): boolean => typeof body === 'object' && body !== null;
