import { Command, InvalidArgumentError, Option } from 'commander';
import { loadConfig } from '../lib/config/index.ts';

/**
 * Creates `heron catalogue`, with the commands that load and describe the prospect catalogue. `print` prints the result
 * of a command.
 */
export function catalogueCommand(print: (result: unknown) => void): Command {
  // Makes invalid arguments throw an error, as in all other commands.
  const catalogue = new Command('catalogue')
    .exitOverride()
    .description('the prospect catalogue of PROSPECT_DB; see docs/guides/prospect-catalogue.md');
  catalogue
    .command('load')
    .description('load a file of people and companies by id; the same file continues an interrupted load')
    .argument('<file>', 'CSV or JSON lines')
    .addOption(new Option('--format <format>', 'format of the file; default: from its name').choices(['csv', 'jsonl']))
    .option('--source <name>', 'source of the data, shown by GET /v1/b2b-database/metadata')
    .option('--period <text>', 'period of the data')
    .action(async (file: string, options: { format?: 'csv' | 'jsonl'; source?: string; period?: string }) => {
      const { loadFile } = await import('./catalogue-work.ts');
      print(await loadFile(loadConfig(), file, options, (line) => console.error(line)));
    });
  catalogue
    .command('status')
    .description('show the content of the catalogue, missing indexes and the latest loads')
    .action(async () => {
      const { catalogueStatus } = await import('./catalogue-work.ts');
      print(await catalogueStatus(loadConfig()));
    });
  catalogue
    .command('index')
    .description('create missing indexes, for example after an update; searches continue meanwhile')
    .action(async () => {
      const { indexMissing } = await import('./catalogue-work.ts');
      print(await indexMissing(loadConfig(), (line) => console.error(line)));
    });
  catalogue
    .command('sample')
    .description('write a file of fictitious people and companies, to try the catalogue')
    .argument('<file>', 'to write, as JSON lines')
    .option('--people <n>', 'how many', wholeNumber, 10_000)
    .option('--companies <n>', 'how many', wholeNumber, 1_000)
    .action(async (file: string, options: { people: number; companies: number }) => {
      const { writeSample } = await import('./catalogue-work.ts');
      await writeSample(file, options.people, options.companies);
      print({ file, ...options });
    });
  return catalogue;
}

function wholeNumber(value: string): number {
  if (!/^\d{1,8}$/.test(value)) throw new InvalidArgumentError('This is not a whole number.');
  return Number(value);
}
