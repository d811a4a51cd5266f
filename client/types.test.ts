import test from 'ava';
import { apiDocument } from '../api/servers/api.ts';
import { typesOf, type ApiDocument } from './types.ts';

/** Maximum size (bytes) of all types together. */
const MAX_BYTES = 330_000;

test('the types of the client are small, and say what an endpoint takes and answers', async (t) => {
  const types = await typesOf(apiDocument('https://heron.test') as ApiDocument);
  t.true(Buffer.byteLength(types) <= MAX_BYTES, `${Buffer.byteLength(types)} bytes`);
  t.regex(types, /"\/v1\/contacts\/\{id\}": \{/);
  t.regex(types, /"application\/json": Schemas\["Contact"\];/);
  t.notRegex(types, /"\/mcp"|"\/setup"/);
});
