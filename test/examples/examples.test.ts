import test from 'ava';
import { EXAMPLES } from '../../api/http/examples.ts';
import { routes } from '../../api/routes.ts';
import { apiDocument } from '../../api/servers/api.ts';
import { chooseExamples, hasJsonAnswer, hasJsonBody } from './choose.ts';
import { exampleFaults } from './faults.ts';
import { tidied } from './tidy.ts';

/** Operations without an example: another protocol, records in the public DNS, Gmail, a long list. */
const WITHOUT = new Set<string>([
  'mcp.message',
  'mcp.messageV1',
  'campaigns.verifyTrackingDomain',
  'mailboxes.refreshIdentity',
  'system.listTimezones',
]);

test('every request and every answer of the reference has an example, and it fits its schemas', (t) => {
  const faults = routes
    .filter((spec) => (hasJsonBody(spec) || hasJsonAnswer(spec)) && !WITHOUT.has(spec.operationId))
    .flatMap((spec) => {
      const example = EXAMPLES.operations[spec.operationId];
      if (!example) return [`${spec.operationId}: none; run \`npm run record-examples\``];
      return exampleFaults(spec, example).map((fault) => `${spec.operationId}: ${fault}`);
    });
  t.deepEqual(faults, []);
  const ids = new Set(routes.map((spec) => spec.operationId));
  t.deepEqual(
    Object.keys(EXAMPLES.operations).filter((id) => !ids.has(id)),
    [],
    'of operations that are gone',
  );
});

test('an example that no longer fits is found, and a recording replaces only that one', (t) => {
  const spec = routes.find(({ operationId }) => operationId === 'contacts.create')!;
  const good = EXAMPLES.operations['contacts.create']!;
  t.deepEqual(exampleFaults(spec, good), []);
  const stale = { ...good, response: [{ email: 'ada@example.com' }] };
  t.true(exampleFaults(spec, stale).length > 0);
  const call = { method: 'POST', path: '/v1/contacts', sent: good.request, status: 200, answer: good.response };
  const kept = { operations: { ...EXAMPLES.operations, 'contacts.create': stale }, errors: EXAMPLES.errors };
  const chosen = chooseExamples(routes, [call], kept);
  t.deepEqual(chosen.operations['contacts.create'], tidied(good));
  t.deepEqual(chosen.operations['contacts.get'], EXAMPLES.operations['contacts.get']);
});

test('examples hold no secret that opens anything, and the same id is the same everywhere in one', (t) => {
  const id = '0190b6a2-1111-7222-8333-944455556666';
  const example = tidied({
    path: { id },
    request: { token: `ssk_${'aB3_'.repeat(11)}` },
    response: { id, at: '2025-05-05T10:00:00.123Z', before: '2025-05-05T09:00:00.000Z', email: 'p-12-3@example.com' },
  });
  const text = JSON.stringify(example);
  t.false(text.includes(id) || text.includes('aB3_aB3_'));
  t.is(example.path.id, example.response.id);
  t.true(example.request.token.startsWith('ssk_') && example.request.token.length === 48);
  t.true(example.response.at > example.response.before);
  t.is(example.response.email, 'p@example.com');
});

test('every operation of the document says what it does, and who may call it; every tag has words', (t) => {
  const { paths, tags } = apiDocument('https://heron.test') as {
    paths: Record<string, Record<string, { operationId: string; description: string; summary: string }>>;
    tags: { name: string; description: string }[];
  };
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    t.regex(operation.description, /(For|Needs) .*\./, operation.operationId);
    t.true(operation.summary.length > 5, operation.operationId);
  }
  for (const tag of tags) t.true((tag.description ?? '').length > 40, `${tag.name} needs words in openapi-guide.ts`);
});
