import test from 'ava';
import { changed, created, deleted, secretChanged } from './changes.ts';

test('every change has one shape: the value before, and the value after', (t) => {
  t.deepEqual(created({ name: 'A', list: [1], gone: undefined }), {
    name: { from: null, to: 'A' },
    list: { from: null, to: [1] },
  });
  t.deepEqual(deleted({ name: 'A' }), { name: { from: 'A', to: null } });
  const before = { name: 'A', list: [1], at: new Date(0), same: { a: 1 } };
  t.deepEqual(
    changed(before, { name: 'B', list: [1], at: new Date(0), same: { a: 1 }, more: null, unsent: undefined }),
    {
      name: { from: 'A', to: 'B' },
    },
  );
  t.deepEqual(changed(before, { list: [1, 2], name: null }), {
    list: { from: [1], to: [1, 2] },
    name: { from: 'A', to: null },
  });
});

test('of a secret only the change is kept, of a long text its beginning', (t) => {
  t.deepEqual(secretChanged('password'), { password: { from: '(hidden)', to: '(hidden)' } });
  const { body } = changed({ body: 'x'.repeat(900) }, { body: 'y'.repeat(501) });
  t.deepEqual(body, { from: `${'x'.repeat(500)}…`, to: `${'y'.repeat(500)}…` });
});
