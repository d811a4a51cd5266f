import { createHeron, dataOf, HeronError, type Heron } from '../client/src/index.ts';
import { OperatorError } from './waiting.ts';

/** URL and credential of the API. */
export interface ApiSettings {
  HERON_API_URL?: string | undefined;
  HERON_API_KEY?: string | undefined;
}

/** API client of the workspace commands. */
export interface CommandApi {
  heron: Heron;
  /**
   * Returns the data of an answer.
   * @throws OperatorError with the API's error, or when the API does not answer
   */
  ask<T>(answer: Parameters<typeof dataOf<T>>[0]): Promise<NonNullable<T>>;
}

/**
 * Creates the API client for the environment's key.
 * @param needs rights that the key needs; the error about a missing key names them
 * @throws OperatorError without a key
 */
export function createCommandApi(env: ApiSettings, needs: string): CommandApi {
  const { HERON_API_URL: url = 'http://127.0.0.1:8080', HERON_API_KEY: key } = env;
  if (!key) throw new OperatorError(`set HERON_API_KEY: ${needs}`);
  return {
    heron: createHeron({ baseUrl: new URL(url).origin, key }),
    async ask(answer) {
      try {
        return await dataOf(answer);
      } catch (error) {
        if (error instanceof HeronError) throw new ApiRefusal(error);
        throw new OperatorError(`${url} does not answer: set HERON_API_URL`);
      }
    },
  };
}

/** Thrown when the API refuses a command: its message, one line per problem, and its fix. */
export class ApiRefusal extends OperatorError {
  readonly refusal: HeronError;

  /** @param problemLines lines to print in place of the error's own problem lines */
  constructor(refusal: HeronError, problemLines: readonly string[] = []) {
    const { said, problems, fix } = refusal;
    const lines = problemLines.length > 0 ? problemLines : problems.map((one) => `  - ${one.path}: ${one.message}`);
    super([said, ...lines, ...(fix ? [fix] : [])].join('\n'));
    this.refusal = refusal;
  }
}
