/** Messages of the agents area. */
export const agents = {
  'mcp.too_large': 'The message is larger than {max, number} bytes',
  'mcp.batch': 'A request must hold one message, not a batch',
  'mcp.only_post': 'Only POST is allowed: this server keeps no sessions and opens no streams',
  'mcp.foreign_host': 'The Host header is not the address of this installation: check API_PUBLIC_URL',
  'field.unknown_argument': 'is not an argument of this tool',
} as const;
