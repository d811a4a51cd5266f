import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport,
  type CallToolResult,
} from '@modelcontextprotocol/server';
import type { Ctx } from '../../../domain/platform/kernel/context.ts';
import { AppError } from '../../../lib/errors.ts';
import { callTool, findTool } from '../tools/call.ts';
import type { AgentTool, ToolGroup } from '../tools/tool.ts';
import { asAppError, errorEnvelope } from '../../http/errors.ts';
import type { Invoke, StreamReply } from '../../http/route.ts';
import { VERSION } from '../../../lib/version.ts';
import { CALL_TOOL, LIST_TOOLS, listedTools, toolsOfGroup } from './more-tools.ts';

/** Instructions for the model, which every client gets when it connects. */
const INSTRUCTIONS = [
  'Heron sends cold-email campaigns from the mailboxes of one workspace: the one your credential belongs to.',
  'A whole campaign in one call: create_run, then get_run until it is active, completed, failed, denied or cancelled.',
  'Step by step: list_mailboxes, create_campaign_draft, add_campaign_step for each email, add_contacts for new people, add_contacts_to_campaign for known ones,',
  'validate_campaign until it reports no error, then start_campaign, which makes real email leave.',
  'awaiting_approval in an answer: nothing has left, and a person decides at its approval_url before approval_expires_at; give them that address. get_policy says what needs nobody.',
  'Replies: list_threads with kind reply, get_thread, send_reply; suppress_contact for whoever asks not to be emailed. Numbers: the group reports of list_tools.',
  'Nothing before start_campaign sends anything.',
  'More tools (tests of campaigns, CRM, reports and others) are described by list_tools and called by call_tool.',
  'Lists are paged: pass pagination.next_cursor back as cursor, with the same filters. Ids are UUIDs taken from other answers; never make them up.',
  'Answers are in structuredContent. A failed call answers with code, message, often fix, and problems, each with the path of the argument at fault.',
].join(' ');

/**
 * Replaces the JSON Schema validator that the SDK's server would otherwise create, which is slow. It would validate
 * clients' answers, but this server sends no requests to clients.
 */
const NO_VALIDATOR = {
  getValidator(): never {
    throw new Error('this server asks its clients nothing');
  },
};

/** Headers that the transports read. */
const HEADERS = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'];

/** First revision of the protocol with structured answers. */
const STRUCTURED_SINCE = '2025-06-18';

interface Message {
  /** Text of the message as received. */
  text: string;
  headers: Record<string, string | undefined>;
  /** Groups of tools that are listed to the client. */
  groups: ReadonlySet<ToolGroup>;
}

/**
 * Answers one JSON-RPC message of the Model Context Protocol, of revision 2026-07-28 or earlier. Server and transport
 * are created per message and keep no state, so that any process can answer any message.
 * @throws AppError forbidden when an OAuth client calls a tool whose scope it was not granted, with the challenge that
 * names it
 */
export async function answerMessage(ctx: Ctx, invoke: Invoke, message: Message): Promise<StreamReply> {
  const refusal: { error?: AppError } = {};
  const headers = Object.fromEntries(
    HEADERS.map((name) => [name, message.headers[name] ?? '']).filter(([, value]) => value),
  );
  const request = new Request(ctx.config.API_PUBLIC_URL, { method: 'POST', headers, body: message.text });
  const onerror = (error: Error) => ctx.log.debug({ err: error }, 'MCP message refused');
  const legacy = await isLegacyRequest(request);
  const structured = !legacy || (headers['mcp-protocol-version'] ?? '') >= STRUCTURED_SINCE;
  const server = () => makeServer(ctx, invoke, { groups: message.groups, structured, refusal });
  const answer = legacy
    ? await answerLegacy(server(), request, onerror)
    : (subscriptionRefusal(message.text) ??
      (await createMcpHandler(server, { legacy: 'reject', onerror }).fetch(request)));
  if (refusal.error) throw refusal.error;
  return {
    status: answer.status,
    contentType: answer.headers.get('content-type') ?? 'application/json',
    headers: { 'Cache-Control': 'no-store' },
    stream: await answer.text(),
  };
}

/** Answers a message of a revision before 2026-07-28, without a session and with JSON instead of a stream. */
async function answerLegacy(server: Server, request: Request, onerror: (error: Error) => void): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  transport.onerror = onerror;
  await server.connect(transport);
  try {
    return await transport.handleRequest(request);
  } finally {
    await server.close();
  }
}

/**
 * Refuses `subscriptions/listen`, because this server offers no subscriptions. The SDK's handler would answer with a
 * stream that never ends.
 */
function subscriptionRefusal(text: string): Response | undefined {
  const { method, id = null } = (JSON.parse(text) ?? {}) as { method?: unknown; id?: unknown };
  if (method !== 'subscriptions/listen') return undefined;
  const error = { code: ProtocolErrorCode.MethodNotFound, message: 'Method not found' };
  return Response.json({ jsonrpc: '2.0', id, error }, { status: 404 });
}

interface Situation {
  groups: ReadonlySet<ToolGroup>;
  /** True if the client supports structured answers. */
  structured: boolean;
  refusal: { error?: AppError };
}

function makeServer(ctx: Ctx, invoke: Invoke, { groups, structured, refusal }: Situation): Server {
  const server = new Server(
    { name: 'heron', title: 'Heron', version: VERSION },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS, jsonSchemaValidator: NO_VALIDATOR },
  );
  server.setRequestHandler('tools/list', () => ({ tools: listedTools(ctx.actor, groups) }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const answers = structured ? structuredResult : textResult;
    if (params.name === LIST_TOOLS) return answers({ tools: toolsOfGroup(ctx.actor, params.arguments?.group) });
    const { name, args } = calledTool(params);
    const tool = requireTool(name);
    try {
      const { text } = await callTool(ctx, invoke, tool, args, 'arguments.');
      return answers(text === '' ? null : JSON.parse(text));
    } catch (thrown) {
      const error = asAppError(thrown);
      if (error.status >= 500) ctx.log.error({ err: error, cause: error.cause, tool: tool.name }, 'tool failed');
      if (ctx.actor.kind === 'oauth' && error.headers?.['WWW-Authenticate']) refusal.error = error;
      return { isError: true, ...textResult(errorEnvelope(error, ctx.requestId)) };
    }
  });
  return server;
}

interface Call {
  name: string;
  arguments?: Record<string, unknown> | undefined;
}

/** Returns the tool to call with its arguments, from the message itself or from the arguments of `call_tool`. */
function calledTool({ name, arguments: args = {} }: Call): { name: string; args: Record<string, unknown> } {
  if (name !== CALL_TOOL) return { name, args };
  const inner = args.arguments ?? {};
  if (typeof args.name !== 'string' || typeof inner !== 'object' || Array.isArray(inner))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${CALL_TOOL} takes name and arguments`);
  return { name: args.name, args: inner as Record<string, unknown> };
}

/**
 * @throws ProtocolError invalid params for an unknown tool name. This is an error of the protocol, not a failed call
 */
function requireTool(name: string): AgentTool {
  try {
    return findTool(name);
  } catch (error) {
    throw error instanceof AppError
      ? new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 100)}`)
      : error;
  }
}

/** Returns an answer as structured data only. The same data as text would double the input of the model. */
function structuredResult(data: unknown): CallToolResult {
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
  return {
    content: [{ type: 'text', text: data === null ? 'Done.' : 'The answer is in structuredContent.' }],
    structuredContent: isObject ? (data as Record<string, unknown>) : { result: data },
  };
}

/** Returns an answer as text, for errors and for clients of revisions without structured answers. */
function textResult(data: unknown): CallToolResult {
  return { content: [{ type: 'text', text: data === null ? 'Done.' : JSON.stringify(data) }] };
}
