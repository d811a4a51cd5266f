import type { Command } from 'commander';
import { program } from '../../deploy/program.ts';
import { MADE, sentence, wrap } from './markdown.ts';

const HEAD = `# Command line

For operators, and for people who work with campaigns in a shell. At the end you know every command and its options.

${MADE}

- From source: \`npm run heron -- <command>\`. From the build: \`node dist/deploy/heron.js <command>\`.
- Results go to standard output, messages to standard error. Exit code 0 is done, 1 failed, 2 wrong usage.
- npm prints a heading of its own. Add \`--silent\` when you store the output:
  \`npm run --silent openapi > openapi.json\`.
- \`--json\` prints JSON for programs. Lists show 50 rows; \`--limit\` changes that.

## Two kinds of commands

**Commands of the operator** read the settings and the database. Beside a running \`npm start\` they take its settings
([One machine](../guides/one-machine.md#the-command-line)).

**Commands of a workspace** call the API, and need no database: \`campaigns\`, \`leads\`, \`mailboxes\`, \`mailbox\`,
\`replies\`, \`events\`, \`runs\`, \`run\`, \`preflight\` and \`webhooks\`. They work from any machine.

- \`HERON_API_URL\` is the address of the API. Its default is \`http://127.0.0.1:8080\`.
- \`HERON_API_KEY\` is the key. A command whose key lacks a scope names the scope.

## Forward events to your code

\`heron webhooks listen --forward http://127.0.0.1:3000/hooks\` posts events to your code while you write it. It needs no
endpoint and no public address. It reads the [event stream](realtime.md) at \`HERON_REALTIME_URL\`
(\`http://127.0.0.1:4000\`) and posts each event with the body, headers and signature of [webhooks](../guides/webhooks.md).

- \`--events campaign.reply_received,contact.created\` chooses types.
- \`--secret\` sets the secret of the signature. Without it, a new secret is printed.
- Events are posted one after the other, without retries. After a lost connection the next event follows the last one.

## Completion

\`eval "$(heron completion bash)"\` in the start file of your shell completes commands and options. For fish, use
\`heron completion fish | source\`.

## Commands
`;

/** Returns the text of docs/reference/command-line.md: every command with its arguments and options. */
export function commandLinePage(): string {
  return `${HEAD}\n${program.commands.flatMap((command) => commandSections(command, 'heron')).join('\n')}`;
}

function commandSections(command: Command, parent: string): string[] {
  const path = `${parent} ${command.name()}`;
  const isGroup = command.commands.length > 0 && command.registeredArguments.length === 0;
  const words = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  const own = [
    `### ${path}`,
    '',
    wrap(sentence(command.description())),
    ...(isGroup ? [] : ['', `    ${[path, ...words].join(' ')}`]),
    ...items(command),
    '',
  ].join('\n');
  return [own, ...command.commands.flatMap((each) => commandSections(each, path))];
}

/** Returns the arguments and options of a command with their descriptions, as list items. */
function items(command: Command): string[] {
  const lines = [
    ...command.registeredArguments.map((argument) => [argument.name(), argument.description] as const),
    ...command.options.map(({ flags, description }) => [flags, description] as const),
  ].map(([name, description]) => wrap(description ? `\`${name}\`: ${description}` : `\`${name}\``, '- '));
  return lines.length > 0 ? ['', ...lines] : [];
}
