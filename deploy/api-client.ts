import { createHeron, dataOf, HeronError, type Heron } from '../client/src/index.ts';
import { OperatorError } from './waiting.ts';

/** Where the API is and as whom it is called. */
export interface ApiSettings {
  HERON_API_URL?: string | undefined;
  HERON_API_KEY?: string | undefined;
}

/** The API as the commands of a workspace call it. */
export interface CommandApi {
  heron: Heron;
  /**
   * The data of an answer.
   * @throws OperatorError with what the API said instead, or when it does not answer
   */
  ask<T>(answer: Parameters<typeof dataOf<T>>[0]): Promise<NonNullable<T>>;
}

/**
 * The API as the key of the environment may use it.
 * @param needs what the key must be able to do, said when there is none
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

/** The error of a command that the API refused: what it says, each problem in a line, and its fix. */
export class ApiRefusal extends OperatorError {
  readonly refusal: HeronError;

  /** @param problemLines in place of the plain form of its problems */
  constructor(refusal: HeronError, problemLines: readonly string[] = []) {
    const { said, problems, fix } = refusal;
    const lines = problemLines.length > 0 ? problemLines : problems.map((one) => `  - ${one.path}: ${one.message}`);
    super([said, ...lines, ...(fix ? [fix] : [])].join('\n'));
    this.refusal = refusal;
  }
}
