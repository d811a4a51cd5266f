import test from 'ava';
import { labelOf } from '../harness/statement-counter.ts';
import { changes } from './table.ts';

test('a number that grows, shrinks, comes or goes is named with its path, before and after', (t) => {
  const before = { campaign: { statements: { claim: { begin: 2, 'update sends': 4 } }, wire: { 'SMTP messages': 3 } } };
  const after = { campaign: { statements: { claim: { begin: 3, 'select sends': 1 } }, wire: { 'SMTP messages': 2 } } };
  t.deepEqual(changes(before, before), []);
  t.deepEqual(changes(before, after), [
    'campaign > statements > claim > begin: 2 -> 3',
    'campaign > statements > claim > select sends: none -> 1',
    'campaign > statements > claim > update sends: 4 -> none',
    'campaign > wire > SMTP messages: 3 -> 2',
  ]);
});

test('a statement is named by what it writes, or by what it reads first', (t) => {
  const labels: Record<string, string> = {
    'BEGIN;': 'begin',
    'COMMIT;': 'commit',
    'release savepoint part': 'release',
    'select * from "contacts" where id = $1 for update': 'select contacts',
    'select s.id from sends s where exists (select from campaigns) for no key update of s': 'select sends',
    'insert into "outbox" (kind) values ($1) on conflict do update set kind = $1': 'insert outbox',
    'with due as materialized (select id from sends) select * from due': 'select sends',
    'with gone as (delete from sends returning id)\n  update campaigns set sent = 1': 'delete sends + update campaigns',
    'select pg_advisory_xact_lock(hashtextextended($1, 0))': 'select pg_advisory_xact_lock()',
    'set local lock_timeout to default': 'set',
  };
  for (const [text, label] of Object.entries(labels)) t.is(labelOf(text), label);
});
