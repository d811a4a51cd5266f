import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

/** Client program of the Model Context Protocol, based on the protocol's own client. */
export interface McpProgram {
  client: Client;
  /** Calls a tool; a refusal is returned as a result with `isError`. */
  call(name: string, args?: Record<string, unknown>): Promise<{ isError: boolean; data: any; text: string }>;
  toolNames(): Promise<string[]>;
  close(): Promise<void>;
}

/** Connects to an MCP endpoint with a bearer credential. */
export async function connectMcp(url: string, token: string): Promise<McpProgram> {
  const client = new Client({ name: 'heron-tests', version: '1.0.0' });
  // The transport's types do not allow undefined in optional members, which exactOptionalPropertyTypes reports.
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  await client.connect(transport as Parameters<Client['connect']>[0]);
  return {
    client,
    async call(name, args = {}) {
      const result = (await client.callTool({ name, arguments: args })) as CallToolResult;
      const [content] = result.content;
      return {
        isError: result.isError === true,
        data: result.structuredContent,
        text: content?.type === 'text' ? content.text : '',
      };
    },
    toolNames: async () => (await client.listTools()).tools.map((tool) => tool.name),
    close: () => client.close(),
  };
}
