import type { Actor } from '../../../domain/platform/kernel/actor.ts';
import type { Ctx } from '../../../domain/platform/kernel/context.ts';
import { AppError, notFound, type Problem } from '../../../lib/errors.ts';
import { isPermitted } from '../../http/authorize.ts';
import { requestProblems } from '../../http/input.ts';
import type { Invoke, RouteAnswer } from '../../http/route.ts';
import { AGENT_TOOLS } from './catalogue.ts';
import { asArgumentError, asArgumentProblem, IDEMPOTENCY_KEY, ownProblems, toRequest, type AgentTool } from './tool.ts';
import { message } from '../../../messages/index.ts';

/** Text that occurs in every answer of a route that waits for a person's decision. */
const AWAITING = '"awaiting_approval"';

const BY_NAME = new Map(AGENT_TOOLS.map((tool) => [tool.name, tool]));

/** Returns the tools that a caller may call, in the catalogue's order. */
export function toolsFor(actor: Actor): AgentTool[] {
  return AGENT_TOOLS.filter((tool) => isPermitted(tool.route, actor));
}

/**
 * Returns a tool by its name.
 * @throws AppError not_found
 */
export function findTool(name: string): AgentTool {
  const tool = BY_NAME.get(name);
  if (!tool) throw notFound('tool');
  return tool;
}

/** Answer of a tool: HTTP status and text of its route's answer, which is JSON or empty. */
interface ToolAnswer {
  status: number;
  text: string;
  /** True if the requested action waits for a person's decision. */
  waits: boolean;
}

/**
 * Calls a tool by running its route for the same caller, under all rules of that route.
 * @param prefix text before an argument's name in the paths of problems
 * @throws AppError the route's error, with argument names as the paths of its problems
 */
export async function callTool(
  ctx: Ctx,
  invoke: Invoke,
  tool: AgentTool,
  args: Record<string, unknown>,
  prefix: string,
): Promise<ToolAnswer> {
  const request = toRequest(tool, args);
  if (isPermitted(tool.route, ctx.actor) && ownProblems(tool, args).length > 0) {
    const problems = await callProblems(ctx, tool, args, prefix);
    throw new AppError('bad_request', message('call.problems', { count: problems.length }), {
      problems,
    });
  }
  const logged = { tool: tool.name, operation: tool.route.operationId };
  try {
    const answer = read(await invoke(tool.route, request), tool.omits);
    ctx.log.info({ ...logged, status: answer.status }, 'tool called');
    return answer;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    ctx.log.info({ ...logged, status: error.status, code: error.code }, 'tool refused');
    throw asArgumentError(tool, error, prefix);
  }
}

/**
 * Returns all problems of a call's arguments, found by the tool and by its route. Returns none for a caller who may not
 * use the tool.
 */
export async function callProblems(
  ctx: Ctx,
  tool: AgentTool,
  args: Record<string, unknown>,
  prefix: string,
): Promise<Problem[]> {
  if (!isPermitted(tool.route, ctx.actor)) return [];
  const own = ownProblems(tool, args).map((problem) => ({ ...problem, path: `${prefix}${problem.path}` }));
  const named = new Set(own.map(({ path }) => path));
  const found = await requestProblems(tool.route, ctx, toRequest(tool, args));
  return [
    ...own,
    ...found.map((problem) => asArgumentProblem(tool, problem, prefix)).filter(({ path }) => !named.has(path)),
  ];
}

function read({ status, body }: RouteAnswer, omitted: string | undefined): ToolAnswer {
  if (!Buffer.isBuffer(body)) throw new Error('the route of a tool answers with a stream');
  const whole = body.toString('utf8');
  const text =
    omitted === undefined
      ? whole
      : JSON.stringify(JSON.parse(whole, (field, value: unknown) => (field === omitted ? undefined : value)));
  return { status, text, waits: text.includes(AWAITING) && waitsForPerson(JSON.parse(text)) };
}

/**
 * Returns true for an answer that waits for a person's decision: a held action, or an agent's run that waits for an
 * approval.
 */
function waitsForPerson({ result, state }: { result?: unknown; state?: unknown }): boolean {
  return result === 'awaiting_approval' || state === 'awaiting_approval';
}

/** Adds the Idempotency-Key of the surrounding request to the arguments, unless they have their own. */
export function withKey(
  tool: AgentTool,
  args: Record<string, unknown>,
  header: string | undefined,
): Record<string, unknown> {
  const wanted = header && Object.hasOwn(tool.arguments, IDEMPOTENCY_KEY) && args[IDEMPOTENCY_KEY] === undefined;
  return wanted ? { ...args, [IDEMPOTENCY_KEY]: header } : args;
}
