import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import test from 'ava';
import { heron } from '../harness/heron.ts';

const run = promisify(execFile);

test('bash completes commands, their commands and their options; other shells get scripts of the same commands', async (t) => {
  const [bash, zsh, fish, other] = await Promise.all(
    ['bash', 'zsh', 'fish', 'tcsh'].map((shell) => heron(['completion', shell])),
  );
  t.is(bash!.code, 0, bash!.stderr);
  const complete = async (...words: string[]) => {
    const array = ['heron', ...words].map((word) => `'${word}'`).join(' ');
    const script = `${bash!.stdout}\nCOMP_WORDS=(${array}); COMP_CWORD=${words.length}; _heron; echo "\${COMPREPLY[*]}"`;
    return (await run('bash', ['-c', script])).stdout.trim().split(' ').filter(Boolean);
  };
  t.deepEqual(await complete('rest'), ['restore', 'restored']);
  t.true((await complete('')).includes('backup'));
  t.deepEqual(await complete('outbox', 'r'), ['retry']);
  t.deepEqual(await complete('restore', '/backups/today', '--no'), ['--nothing-since']);
  t.deepEqual(await complete('config', '--j'), ['--json']);
  t.deepEqual(await complete('webhooks', 'l'), ['listen']);
  t.deepEqual(await complete('leads', 'list', 'some-id', '--l'), ['--limit']);
  t.regex(zsh!.stdout, /^autoload .*bashcompinit/);
  // Not every machine has zsh, so the script is checked for syntax that zsh interprets differently from bash.
  t.notRegex(zsh!.stdout, /local path\b|:COMP_CWORD/);
  t.regex(fish!.stdout, /-n '__fish_seen_subcommand_from outbox' -a 'retry'/);
  t.is(other!.code, 2);
});
