/** Messages of the agents area. */
export const agents = {
  'mcp.too_large': 'Die Nachricht hat mehr als {max, number} Bytes',
  'mcp.batch': 'Eine Anfrage muss eine einzige Nachricht enthalten',
  'mcp.only_post': 'Nur POST ist erlaubt: Dieser Server führt keine Sitzungen und öffnet keine Streams',
  'mcp.foreign_host': 'Der Host-Header ist nicht die Adresse dieser Installation: API_PUBLIC_URL prüfen',
  'field.unknown_argument': 'ist kein Argument dieses Werkzeugs',
};
