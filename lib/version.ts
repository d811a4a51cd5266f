/** Version of this build, as the OpenAPI document, the instance pages and the MCP server show it. */
export const VERSION = '0.1.0';
