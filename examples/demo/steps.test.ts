import test from 'ava';
import { createStepList } from './steps.ts';

function open(isTTY: boolean) {
  let time = 0;
  let written = '';
  const out = {
    isTTY,
    columns: 60,
    write: (text: string) => {
      written += text;
      return true;
    },
  };
  return {
    list: createStepList(out as unknown as NodeJS.WriteStream, () => time),
    pass: (ms: number) => (time += ms),
    read: () => written,
  };
}

test('without a terminal it prints a line per step, per thing done, and per five seconds of progress', (t) => {
  const { list, pass, read } = open(false);
  const step = list.begin('Mail');
  step.progress('1 of 3');
  pass(4_000);
  step.progress('2 of 3');
  pass(1_000);
  step.progress('3 of 3');
  step.say('all is sent');
  step.end();
  t.deepEqual(read().split('\n'), [
    '    0.0 s  Mail …',
    '    0.0 s  Mail: 1 of 3',
    '    5.0 s  Mail: 3 of 3',
    '    5.0 s  Mail: all is sent',
    '    5.0 s  Mail: done in 5.0 s',
    '',
  ]);
});

test('on a terminal it draws the list over itself, cut to its width', (t) => {
  const { list, pass, read } = open(true);
  const first = list.begin('Mail');
  const second = list.begin('Contacts');
  pass(2_500);
  first.end();
  second.say('x'.repeat(100));
  list.write('A line that stays.');
  list.close();
  const last = read().split('\x1b[2A\x1b[J').at(-1)!;
  t.is(last, `A line that stays.\n  ✓   2.5 s  Mail\n${`  …   2.5 s  Contacts: ${'x'.repeat(100)}`.slice(0, 59)}\n`);
});

test('an empty list begins after close: what stood there stays', (t) => {
  const { list, read } = open(true);
  list.begin('Mail').end();
  list.close();
  const before = read();
  list.write('The end.');
  t.is(read().slice(before.length), 'The end.\n');
});
