import test from 'ava';
import { chooseTests } from './quick-choice.ts';

const IMPORTS = new Map<string, string[]>([
  ['lib/ids.ts', []],
  ['lib/ids.test.ts', ['lib/ids.ts']],
  ['domain/audience/contacts/read.ts', ['lib/ids.ts']],
  ['domain/audience/contacts/search.test.ts', ['domain/audience/contacts/search.ts']],
  ['api/audience/contacts/routes.ts', ['domain/audience/contacts/read.ts']],
  ['api/audience/contacts/routes.test.ts', ['test/harness/world.ts']],
  ['test/harness/world.ts', ['api/audience/contacts/routes.ts']],
  ['api/audience/labels/routes.test.ts', ['test/harness/world.ts']],
  ['test/engine/sending.test.ts', ['test/harness/world.ts']],
  ['test/house.test.ts', []],
]);

test('a change runs its own tests, those of its area and those a few imports away, the nearest first', (t) => {
  t.deepEqual(chooseTests(['domain/audience/contacts/read.ts'], IMPORTS), [
    'test/house.test.ts',
    'api/audience/contacts/routes.test.ts',
    'domain/audience/contacts/search.test.ts',
  ]);
  t.deepEqual(chooseTests(['lib/ids.ts'], IMPORTS), ['test/house.test.ts', 'lib/ids.test.ts']);
  t.deepEqual(chooseTests(['domain/sending/claim.ts'], IMPORTS), ['test/house.test.ts', 'test/engine/sending.test.ts']);
});

test('a changed test runs itself; a change that reaches nothing runs the house', (t) => {
  t.deepEqual(chooseTests(['api/audience/labels/routes.test.ts'], IMPORTS), [
    'api/audience/labels/routes.test.ts',
    'test/house.test.ts',
  ]);
  t.deepEqual(chooseTests(['README.md'], IMPORTS), ['test/house.test.ts']);
});
