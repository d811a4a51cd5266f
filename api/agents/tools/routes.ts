import { z } from 'zod';
import { Awaiting, route, type AnyRoute } from '../../http/route.ts';
import { resource } from '../../http/schemas.ts';
import { callProblems, callTool, findTool, toolsFor, withKey } from './call.ts';
import { TOOL_GROUPS, type AgentTool } from './tool.ts';

const base = { area: 'agent-tools', scope: 'any', permission: null } as const;
/** Maximum size (bytes) of a call, equal to that of an MCP message. */
export const CALL_LIMIT = 4 * 1024 * 1024;

/** Prefix of argument names in the paths of problems. */
const ARGUMENTS = 'body.arguments.';

const tool = resource('AgentTool', {
  name: z.string(),
  title: z.string(),
  description: z.string(),
  group: z.enum(TOOL_GROUPS).meta({ description: 'The MCP endpoint lists `core`, and others with `?groups=`' }),
  input_schema: z.record(z.string(), z.unknown()).meta({ description: 'JSON Schema of `arguments`' }),
  operation: z
    .strictObject({ operation_id: z.string(), method: z.string(), path: z.string() })
    .meta({ description: 'Operation id of the endpoint behind the tool' }),
  read_only: z.boolean(),
  destructive: z.boolean().meta({ description: 'True if it can overwrite data or cannot be undone' }),
  idempotent: z.boolean().meta({ description: 'True if repeating it with the same arguments changes nothing more' }),
});

const called = z.strictObject({
  result: z.unknown().meta({ description: 'Answer of the endpoint behind the tool; null if it has none' }),
});

function present(known: AgentTool): z.input<typeof tool> {
  return {
    name: known.name,
    title: known.title,
    description: known.description,
    group: known.group,
    input_schema: known.inputSchema,
    operation: {
      operation_id: known.route.operationId,
      method: known.route.method.toUpperCase(),
      path: `/v1${known.route.path}`,
    },
    read_only: known.readOnly,
    destructive: known.destructive ?? false,
    idempotent: known.readOnly || (known.repeatable ?? false),
  };
}

/** Routes that offer the agent tools over plain HTTP. The MCP endpoint serves the same tools. */
export const agentToolsRoutes: readonly AnyRoute[] = [
  route({
    ...base,
    operationId: 'agentTools.list',
    method: 'get',
    path: '/ai/tools',
    summary: 'Tools the credential may call',
    description:
      'Lists the same tools as the MCP endpoint with `?groups=all`. A tool is an endpoint of this API with a name and arguments that a model understands.',
    success: { status: 200, body: z.strictObject({ tools: z.array(tool) }) },
    handler: async (ctx) => ({ tools: toolsFor(ctx.actor).map(present) }),
  }),
  route({
    ...base,
    operationId: 'agentTools.call',
    method: 'post',
    path: '/ai/tools/:name/call',
    // The route behind the called tool counts writes and handles the Idempotency-Key.
    readOnly: true,
    summary: 'Call a tool',
    description:
      'Runs the endpoint behind the tool with all its rules. Its errors are returned unchanged, except that the paths of `problems` name arguments. For writes, send `idempotency_key` among the arguments, or the Idempotency-Key header. Answers 202 if the action waits for a person: `result` has the `approval_id` and the `approval_url`.',
    bodyLimit: CALL_LIMIT,
    params: z.object({ name: z.string() }),
    body: z.strictObject({ arguments: z.record(z.string(), z.unknown()) }),
    furtherProblems: async (ctx, { arguments: args }, { name }) =>
      args ? callProblems(ctx, findTool(name!), args, ARGUMENTS) : [],
    success: {
      status: 200,
      body: called,
    },
    awaiting: called,
    errors: ['not_found', 'conflict'],
    handler: async (ctx, { params, body, headers, invoke }) => {
      const known = findTool(params.name);
      const { text, waits } = await callTool(
        ctx,
        invoke,
        known,
        withKey(known, body.arguments, headers['idempotency-key']),
        ARGUMENTS,
      );
      const answer = { result: text === '' ? null : JSON.parse(text) };
      return waits ? new Awaiting(answer) : answer;
    },
  }),
];
