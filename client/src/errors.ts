/** Problem of a request: the refused field with the reason. */
export interface Problem {
  path: string;
  message: string;
  /** Stable code of `message`, with its values, for programs that write their own text. */
  code?: string;
  values?: Values;
}

/** Values of a message by name: text, numbers, lists of text, or a nested message. */
type Values = Readonly<Record<string, unknown>>;

/** Body of an error, if it comes from Heron. */
interface ErrorBody {
  message?: string;
  code?: string;
  problems?: Problem[];
  fix?: string;
  request_id?: string;
  message_code?: string;
  message_values?: Values;
}

/** Error answer of Heron. `message` contains its text, problems and fix in one line. */
export class HeronError extends Error {
  override readonly name = 'HeronError';
  readonly status: number;
  /** Heron's message, without its problems and fix. */
  readonly said: string;
  /** Stable code of `said`, with its values, for programs that write their own text. */
  readonly messageCode: string | undefined;
  readonly messageValues: Values | undefined;
  /** Stable code of the error, such as `not_found`; empty if the answer did not come from Heron. */
  readonly code: string;
  /** All refused fields. */
  readonly problems: readonly Problem[];
  readonly fix: string | undefined;
  /** Id by which the operator finds the request in the log. */
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

/** Thrown for a request that is stored and waits for a person's approval. */
export class ApprovalNeeded extends Error {
  override readonly name = 'ApprovalNeeded';
  readonly approvalId: string;
  /** Page where a person signs in and decides. */
  readonly approvalUrl: string;

  constructor(approvalId: string, approvalUrl: string) {
    super(`A person has to approve this: ${approvalUrl}`);
    this.approvalId = approvalId;
    this.approvalUrl = approvalUrl;
  }
}

const isObject = (body: unknown): boolean => typeof body === 'object' && body !== null;
