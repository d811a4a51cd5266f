/** Version of this build, as shown by the OpenAPI document, the instance pages and the MCP server. */
export const VERSION = '0.1.0';
