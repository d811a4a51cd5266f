import test from 'ava';
import { chooseTests } from './quick-choice.ts';

const IMPORTS = new Map<string, string[]>([
  ['lib/ids.ts', []],
  ['lib/ids.test.ts', ['lib/ids.ts']],
  ['domain/contacts/read.ts', ['lib/ids.ts']],
  ['domain/contacts/search.test.ts', ['domain/contacts/search.ts']],
  ['api/contacts/routes.ts', ['domain/contacts/read.ts']],
  ['api/contacts/routes.test.ts', ['test/harness/world.ts']],
  ['test/harness/world.ts', ['api/contacts/routes.ts']],
  ['api/labels/routes.test.ts', ['test/harness/world.ts']],
  ['test/engine/sending.test.ts', ['test/harness/world.ts']],
  ['test/house.test.ts', []],
]);

test('a change runs its own tests, those of its area and those a few imports away, the nearest first', (t) => {
  t.deepEqual(chooseTests(['domain/contacts/read.ts'], IMPORTS), [
    'test/house.test.ts',
    'api/contacts/routes.test.ts',
    'domain/contacts/search.test.ts',
  ]);
  t.deepEqual(chooseTests(['lib/ids.ts'], IMPORTS), ['test/house.test.ts', 'lib/ids.test.ts']);
  t.deepEqual(chooseTests(['domain/engine/sending/claim.ts'], IMPORTS), [
    'test/house.test.ts',
    'test/engine/sending.test.ts',
  ]);
});

test('a changed test runs itself; a change that reaches nothing runs the house', (t) => {
  t.deepEqual(chooseTests(['api/labels/routes.test.ts'], IMPORTS), ['api/labels/routes.test.ts', 'test/house.test.ts']);
  t.deepEqual(chooseTests(['README.md'], IMPORTS), ['test/house.test.ts']);
});
