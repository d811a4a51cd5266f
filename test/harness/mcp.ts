import { Client, StreamableHTTPClientTransport, type ClientOptions } from '@modelcontextprotocol/client';

/** MCP client for tests, based on the protocol's own SDK. */
export interface McpProgram {
  client: Client;
  /** Calls a tool; a refusal is returned as a result with `isError`. */
  call(name: string, args?: Record<string, unknown>): Promise<{ isError: boolean; data: any; text: string }>;
  toolNames(): Promise<string[]>;
  close(): Promise<void>;
}

/**
 * Connects to an MCP endpoint with a bearer credential, by default in the newest revision of the protocol.
 * @param era `legacy` for the newest revision that still has a handshake
 */
export async function connectMcp(url: string, token: string, era: 'auto' | 'legacy' = 'auto'): Promise<McpProgram> {
  const options: ClientOptions = { versionNegotiation: { mode: era } };
  const client = new Client({ name: 'heron-tests', version: '1.0.0' }, options);
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } }),
  );
  return {
    client,
    async call(name, args = {}) {
      const { content, isError, structuredContent } = await client.callTool({ name, arguments: args });
      const [first] = content;
      const text = first?.type === 'text' ? first.text : '';
      return { isError: isError === true, data: isError ? JSON.parse(text) : structuredContent, text };
    },
    toolNames: async () => (await client.listTools()).tools.map((tool) => tool.name),
    close: () => client.close(),
  };
}
