import type { Command } from 'commander';

/** Shells supported by `heron completion`. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

interface Place {
  /** Command words typed so far, such as `outbox retry`. Empty for the program itself. */
  path: string;
  commands: { name: string; description: string }[];
  options: string[];
}

/**
 * Returns a shell script that completes commands and options of the command line. It is generated from the commands.
 */
export function completionScript(program: Command, shell: Shell): string {
  const places = placesOf(program);
  if (shell === 'fish') return fishScript(places);
  const bash = bashScript(places);
  return shell === 'bash' ? bash : `autoload -U +X bashcompinit && bashcompinit\n${bash}`;
}

function placesOf(command: Command, path = ''): Place[] {
  const here: Place = {
    path,
    commands: command.commands.map((one) => ({ name: one.name(), description: one.description() })),
    options: [...command.options.map(({ long }) => long).filter((name) => name !== undefined), '--help'],
  };
  return [here, ...command.commands.flatMap((one) => placesOf(one, `${path} ${one.name()}`.trim()))];
}

// The script also works in zsh, where `path` is reserved and an offset must not begin with a letter.
function bashScript(places: readonly Place[]): string {
  const cases = places.map(({ path, commands, options }) => {
    const words = [...commands.map(({ name }) => name), ...options].join(' ');
    return `    '${path}') words='${words}' ;;`;
  });
  return `_heron() {
  local place='' words='' word cur="\${COMP_WORDS[COMP_CWORD]}"
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    case " ${places.map(({ path }) => path.replaceAll(' ', '/')).join(' ')} " in
      *" \${place:+\${place// //}/}$word "*) place="\${place:+$place }$word" ;;
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _heron heron
`;
}

function fishScript(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, commands, options }) => {
    const words = path.split(' ').filter(Boolean);
    const seen = words.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ');
    const condition = words.length === 0 ? '__fish_use_subcommand' : seen;
    return [
      ...commands.map(
        ({ name, description }) =>
          `complete -c heron -f -n '${condition}' -a '${name}' -d '${description.replaceAll(/['\\]/g, '\\$&')}'`,
      ),
      ...options.map((option) => `complete -c heron -n '${condition}' -l '${option.slice(2)}'`),
    ];
  });
  return `${lines.join('\n')}\n`;
}
