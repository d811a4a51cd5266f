import { z } from 'zod';
import { Awaiting, route, type AnyRoute } from '../../http/route.ts';
import { resource } from '../../http/schemas.ts';
import { callProblems, callTool, findTool, toolsFor, withKey } from './call.ts';
import type { AgentTool } from './tool.ts';

const base = { area: 'agent-tools', scope: 'any', permission: null } as const;
/** Maximum size (bytes) of a call; the same as of an MCP message. */
export const CALL_LIMIT = 4 * 1024 * 1024;

/** Prefix of argument names in the paths of problems. */
const ARGUMENTS = 'body.arguments.';

const tool = resource('AgentTool', {
  name: z.string(),
  title: z.string(),
  description: z.string(),
  input_schema: z.record(z.string(), z.unknown()).meta({ description: 'JSON Schema of `arguments`' }),
  operation: z
    .strictObject({ operation_id: z.string(), method: z.string(), path: z.string() })
    .meta({ description: 'The endpoint it stands for' }),
  read_only: z.boolean(),
  destructive: z.boolean().meta({ description: 'Can overwrite, or do what cannot be undone' }),
  idempotent: z.boolean().meta({ description: 'Called again with the same arguments it changes nothing more' }),
});

const called = z.strictObject({
  result: z.unknown().meta({ description: 'The answer of the endpoint behind the tool; null where it has none' }),
});

function present(known: AgentTool): z.input<typeof tool> {
  return {
    name: known.name,
    title: known.title,
    description: known.description,
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
      'The same tools as the MCP endpoint lists. A tool is an endpoint of this API under a name and with arguments a model understands.',
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
      'Runs the endpoint behind the tool with all its rules; its errors come back unchanged, with the paths of `problems` naming arguments. ' +
      'Writes take `idempotency_key` among the arguments, or the Idempotency-Key header. ' +
      '202 when what the tool was asked for waits for a person: `result` has the `approval_id` and the `approval_url`.',
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
