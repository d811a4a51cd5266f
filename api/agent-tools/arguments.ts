/** The arguments of every paged list. */
export const PAGE = { limit: 'query.limit', cursor: 'query.cursor' } as const;

/** The argument that names the record of the path, and the tools that tell its id. */
export function id(of: string, from: string): { at: string; description: string } {
  return { at: 'params.id', description: `Id of the ${of}, from ${from}` };
}
