import { Readable } from 'node:stream';
import { z } from 'zod';
import { CALL_LIMIT } from '../tools/routes.ts';
import { route, type AnyRoute, type StreamReply } from '../../http/route.ts';
import { TOOL_GROUPS, type ToolGroup } from '../tools/tool.ts';
import { answerMessage } from './server.ts';
import { message, type Message } from '../../../messages/index.ts';
import { render } from '../../../messages/render.ts';

/** Error codes of the MCP transport, in the range that JSON-RPC reserves for implementations. */
const REFUSED = -32000;
const INVALID_REQUEST = -32600;

/** Groups of tools to list, separated by commas; `all` for all groups. The group `core` is always listed. */
const query = z.object({
  groups: z
    .string()
    .max(200)
    .transform((text) => text.split(','))
    .pipe(z.array(z.enum([...TOOL_GROUPS, 'all'])))
    .optional()
    .meta({ description: 'Groups of tools to list besides `core`, separated by commas, or `all`' }),
});

/** JSON-RPC 2.0 response in the OpenAPI document. */
const rpcAnswer = {
  type: 'object',
  required: ['jsonrpc'],
  properties: {
    jsonrpc: { const: '2.0' },
    id: { type: ['string', 'integer', 'null'] },
    result: { type: 'object' },
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: { code: { type: 'integer' }, message: { type: 'string' } },
    },
  },
};

/** Routes of the Model Context Protocol over streamable HTTP. */
export const mcpRoutes: readonly AnyRoute[] = [
  endpoint('mcp.message', 'from the root', { atRoot: true }),
  endpoint('mcp.messageV1', 'below /v1', {}),
];

function endpoint(operationId: string, where: string, at: { atRoot?: true }): AnyRoute {
  return route({
    ...at,
    operationId,
    method: 'post',
    path: '/mcp',
    area: 'mcp',
    scope: 'any',
    permission: null,
    // The route behind the called tool applies its own limits.
    readOnly: true,
    // The MCP transport asks servers to check Origin, so that no web page can call a local server that trusts every
    // caller. This server trusts only the credential in the Authorization header, which a page of another site does not
    // have.
    anyOrigin: true,
    resourceMetadata: `/.well-known/oauth-protected-resource${at.atRoot ? '/mcp' : '/v1/mcp'}`,
    summary: `Model Context Protocol, ${where}`,
    description:
      'Streamable HTTP without sessions, of revision 2026-07-28 and earlier ones: each POST carries one JSON-RPC message and is answered with JSON. GET and DELETE answer 405. Without a credential, WWW-Authenticate names the authorization server and the scopes. The tools are those of GET /v1/ai/tools; `?groups=` lists more than `core`.',
    query,
    consumes: 'raw',
    body: z.instanceof(Readable).meta({ description: 'JSON-RPC 2.0 message' }),
    success: {
      status: 200,
      body: 'stream',
      contentType: 'application/json',
      description: 'JSON-RPC response',
      schema: rpcAnswer,
    },
    otherAnswers: {
      202: { description: 'Accepted, no body: the message was a notification or a client response' },
      ...Object.fromEntries(
        [400, 404, 406, 413, 415].map((status) => [
          status,
          {
            description: 'The message or its headers violate the protocol',
            contentType: 'application/json',
            schema: rpcAnswer,
          },
        ]),
      ),
    },
    handler: async (ctx, { body, headers, invoke, query: { groups = [] } }) => {
      const text = await readText(body);
      if (text === undefined) return rpcError(413, REFUSED, message('mcp.too_large', { max: CALL_LIMIT }));
      if (text.trimStart().startsWith('[')) return rpcError(400, INVALID_REQUEST, message('mcp.batch'));
      const shown = groups.includes('all') ? TOOL_GROUPS : (['core', ...groups] as ToolGroup[]);
      return answerMessage(ctx, invoke, { text, headers, groups: new Set(shown) });
    },
  });
}

/**
 * Returns the text of a body, or undefined if it is too large. The rest is then read and discarded, because unread
 * bytes would block the connection's next request.
 */
async function readText(body: Readable): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > CALL_LIMIT) break;
    chunks.push(chunk);
  }
  if (size <= CALL_LIMIT) return Buffer.concat(chunks).toString('utf8');
  body.resume();
  return undefined;
}

function rpcError(status: number, code: number, said: Message): StreamReply {
  return {
    status,
    contentType: 'application/json',
    stream: JSON.stringify({ jsonrpc: '2.0', error: { code, message: render(said) }, id: null }),
  };
}
