import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type CallToolResult,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import type { Ctx } from '../../../domain/platform/kernel/context.ts';
import { AppError } from '../../../lib/errors.ts';
import { callTool, findTool, toolsFor } from '../tools/call.ts';
import type { AgentTool } from '../tools/tool.ts';
import { asAppError, errorEnvelope } from '../../http/errors.ts';
import type { Invoke, StreamReply } from '../../http/route.ts';
import { VERSION } from '../../../lib/version.ts';

/** Sent to every client when it connects. */
const INSTRUCTIONS = [
  'Heron sends cold-email campaigns from the mailboxes of one workspace: the one your credential belongs to.',
  'A whole campaign in one call: create_run, then get_run until it is active, completed, failed, denied or cancelled.',
  'Step by step: list_mailboxes, create_campaign_draft, add_campaign_step for each email, add_contact or add_contacts, add_contacts_to_campaign,',
  'validate_campaign until it reports no error, preflight_campaign for its score, then start_campaign, which makes real email leave.',
  'awaiting_approval in an answer: nothing has left, and a person decides at its approval_url before approval_expires_at; give them that address. get_policy says what needs nobody.',
  'Replies: list_threads with kind reply, get_thread, send_reply. Numbers: get_campaign_report, get_workspace_report, get_outcomes_report.',
  'Nothing before start_campaign sends anything, but test_campaign, which sends the emails to the one address you name.',
  'Lists are paged: pass pagination.next_cursor back as cursor, with the same filters. Ids are UUIDs taken from other answers; never make them up.',
  'A failed call answers with code, message, often fix, and problems, each with the path of the argument at fault.',
].join(' ');

/**
 * The SDK's server requires a validator, and creating one is slow. It is never used, as this server sends its clients
 * no requests.
 */
const validator = new AjvJsonSchemaValidator();

/**
 * Answers one JSON-RPC message of the Model Context Protocol. Server and transport are created per message and keep
 * nothing, so that any process can answer any message.
 * @param text the message as received
 * @throws AppError forbidden when an OAuth client calls a tool whose scope it was not granted, with the challenge that
 * names it
 */
export async function answerMessage(
  ctx: Ctx,
  invoke: Invoke,
  text: string,
  headers: Record<string, string | undefined>,
): Promise<StreamReply> {
  const refusal: { error?: AppError } = {};
  const server = makeServer(ctx, invoke, refusal);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  transport.onerror = (error) => ctx.log.debug({ err: error }, 'MCP message refused');
  await server.connect(transport);
  try {
    const answer = await transport.handleRequest(
      new Request(ctx.config.API_PUBLIC_URL, { method: 'POST', headers: known(headers), body: text }),
    );
    if (refusal.error) throw refusal.error;
    return {
      status: answer.status,
      contentType: answer.headers.get('content-type') ?? 'application/json',
      headers: { 'Cache-Control': 'no-store' },
      stream: await answer.text(),
    };
  } finally {
    await server.close();
  }
}

/** Returns only the headers that the transport reads. */
function known(headers: Record<string, string | undefined>): Record<string, string> {
  const read = ['accept', 'content-type', 'mcp-protocol-version'].map((name) => [name, headers[name] ?? ''] as const);
  return Object.fromEntries(read.filter(([, value]) => value !== ''));
}

function makeServer(ctx: Ctx, invoke: Invoke, refusal: { error?: AppError }): Server {
  const server = new Server(
    { name: 'heron', title: 'Heron', version: VERSION },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS, jsonSchemaValidator: validator },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: toolsFor(ctx.actor).map(describe) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const tool = requireTool(params.name);
    try {
      return result(await callTool(ctx, invoke, tool, params.arguments ?? {}, 'arguments.'));
    } catch (thrown) {
      const error = asAppError(thrown);
      if (error.status >= 500) ctx.log.error({ err: error, cause: error.cause, tool: tool.name }, 'tool failed');
      if (ctx.actor.kind === 'oauth' && error.headers?.['WWW-Authenticate']) refusal.error = error;
      return failure(errorEnvelope(error, ctx.requestId));
    }
  });
  return server;
}

/** @throws McpError invalid params for an unknown tool name: a protocol error, not a failed call */
function requireTool(name: string): AgentTool {
  try {
    return findTool(name);
  } catch (error) {
    throw error instanceof AppError
      ? new McpError(ErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 100)}`)
      : error;
  }
}

function describe(tool: AgentTool): Tool {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: tool.inputSchema as Tool['inputSchema'],
    annotations: {
      title: tool.title,
      readOnlyHint: tool.readOnly,
      destructiveHint: !tool.readOnly && (tool.destructive ?? false),
      idempotentHint: tool.readOnly || (tool.repeatable ?? false),
      openWorldHint: tool.openWorld ?? false,
    },
  };
}

/** Converts a route's answer to text for the model and to structured data for its client program. */
function result({ text }: { text: string }): CallToolResult {
  const data: unknown = text === '' ? null : JSON.parse(text);
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
  return {
    content: [{ type: 'text', text: text === '' ? 'Done.' : text }],
    structuredContent: isObject ? (data as Record<string, unknown>) : { result: data },
  };
}

function failure(envelope: object): CallToolResult {
  return {
    isError: true,
    content: [{ type: 'text', text: JSON.stringify(envelope) }],
    structuredContent: { ...envelope },
  };
}
