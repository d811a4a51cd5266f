import { text } from 'node:stream/consumers';
import { Command, InvalidArgumentError, Option } from 'commander';
import { emailAddress, moment, wholeNumber } from './arguments.ts';
import { RUN_STATES, type RunState } from '../domain/campaigns/runs/states.ts';
import type { CampaignStatus, ProductEventInput, Shown } from './workspace-work.ts';

/** Output of the workspace commands: a command's result, or one line. */
interface Printer {
  json(value: unknown): void;
  lines(lines: readonly string[]): void;
}

const THROUGH = 'through the API (HERON_API_URL, HERON_API_KEY)';
const LISTED = 50;
/** Statuses of campaigns. The list repeats that of the API, so that help and completion do not load the API. */
const CAMPAIGN_STATUSES: readonly CampaignStatus[] = ['draft', 'active', 'paused', 'completed'];

/**
 * Commands for daily work in a workspace. Each makes one or two requests with the typed client, and prints a table or,
 * with `--json`, the API's answer.
 */
export function workspaceCommands(print: Printer): Command[] {
  const show: Show = ({ json, lines }, options) => (options.json ? print.json(json) : print.lines(lines));
  return [
    campaignsCommand(show),
    leadsCommand(show),
    mailboxesCommand(show),
    runsCommand(show),
    repliesCommand(show),
    webhooksCommand(print),
    eventsCommand(show),
  ];
}

type Show = (shown: Shown, options: { json?: boolean }) => void;

const work = () => import('./workspace-work.ts');

function campaignsCommand(show: Show): Command {
  const campaigns = area('campaigns', `campaigns of the workspace, ${THROUGH}`);
  listing(campaigns.command('list').description('campaigns, newest first'))
    .addOption(new Option('--status <status>', 'only rows in this state').choices(CAMPAIGN_STATUSES))
    .action(async (options: Listing & { status?: CampaignStatus }) =>
      show(await (await work()).listCampaigns(process.env, options), options),
    );
  for (const [name, verb, what] of [
    ['show', 'showCampaign', 'show the settings and the state of a campaign'],
    ['start', 'startCampaign', 'start or resume a campaign; print the link to an approval if one is needed'],
    ['pause', 'pauseCampaign', 'pause a campaign; emails that are being submitted are still sent'],
  ] as const)
    asJson(campaigns.command(name).description(what).argument('<campaign>', 'its id')).action(
      async (id: string, options: Listing) => show(await (await work())[verb](process.env, id), options),
    );
  listing(
    campaigns.command('leads').description('leads of a campaign, as `leads list`').argument('<campaign>', 'its id'),
  ).action(async (id: string, options: Listing) =>
    show(await (await work()).listLeads(process.env, id, options.limit), options),
  );
  return campaigns;
}

function leadsCommand(show: Show): Command {
  const leads = area('leads', `leads of campaigns, ${THROUGH}`);
  listing(
    leads.command('list').description('leads of a campaign, newest first').argument('<campaign>', 'its id'),
  ).action(async (id: string, options: Listing) =>
    show(await (await work()).listLeads(process.env, id, options.limit), options),
  );
  asJson(
    leads
      .command('add')
      .description('add addresses to a campaign; unknown ones become contacts')
      .argument('<campaign>', 'its id')
      .argument('<email...>', 'addresses', (value: string, earlier: string[] | undefined) => [
        ...(earlier ?? []),
        emailAddress(value),
      ]),
  ).action(async (id: string, emails: string[], options: Listing) =>
    show(await (await work()).addLeads(process.env, id, emails), options),
  );
  asJson(
    leads
      .command('import')
      .description('import a CSV file into a campaign, and wait for the end')
      .argument('<campaign>', 'its id')
      .argument('<file>', 'CSV; columns are recognized by their names'),
  ).action(async (id: string, file: string, options: Listing) =>
    show(await (await work()).importLeads(process.env, id, file, (line) => console.error(line)), options),
  );
  return leads;
}

function mailboxesCommand(show: Show): Command {
  const mailboxes = area('mailboxes', `mailboxes of the workspace, ${THROUGH}`);
  listing(mailboxes.command('list').description('mailboxes with their holds')).action(async (options: Listing) =>
    show(await (await work()).listMailboxes(process.env, options.limit), options),
  );
  for (const [name, status, what] of [
    ['hold', 'inactive', 'put a mailbox on hold; its reserved slots are released'],
    ['release', 'active', 'end the hold of a mailbox'],
  ] as const)
    asJson(mailboxes.command(name).description(what).argument('<mailbox>', 'its id')).action(
      async (id: string, options: Listing) =>
        show(await (await work()).switchMailbox(process.env, id, status), options),
    );
  return mailboxes;
}

function runsCommand(show: Show): Command {
  const runs = area('runs', `runs of agents and run files, newest first, ${THROUGH}`);
  listing(runs)
    .addOption(new Option('--state <state>', 'only rows in this state').choices(RUN_STATES))
    .action(async (options: Listing & { state?: RunState }) =>
      show(await (await work()).listRuns(process.env, options), options),
    );
  return runs;
}

function repliesCommand(show: Show): Command {
  const replies = area('replies', `replies of people, ${THROUGH}`);
  listing(replies.command('list').description('replies without an answer, newest first'))
    .option('--all', 'include answered ones')
    .action(async (options: Listing & { all?: boolean }) =>
      show(await (await work()).listReplies(process.env, { limit: options.limit, all: options.all ?? false }), options),
    );
  asJson(
    replies
      .command('answer')
      .description('answer a reply in its conversation; the text comes from --text or standard input')
      .argument('<reply>', 'its id, as in the list')
      .option('--text <text>', 'text of the answer'),
  ).action(async (id: string, options: Listing & { text?: string }) =>
    show(await (await work()).answerReply(process.env, id, options.text ?? (await text(process.stdin))), options),
  );
  return replies;
}

function webhooksCommand(print: Printer): Command {
  const webhooks = area('webhooks', 'events for your code');
  webhooks
    .command('listen')
    .description(
      'post events of the workspace to an address as signed webhooks, until it is stopped (HERON_REALTIME_URL, HERON_API_KEY)',
    )
    .requiredOption('--forward <url>', 'address that receives the events')
    .option('--events <types>', 'such as campaign.reply_received,contact.created', commas)
    .option('--secret <secret>', 'secret of the signature; default: a new one, which is printed')
    .option('--json', 'a line of JSON for each event')
    .action(async (options: { forward: string; events?: string[]; secret?: string; json?: boolean }) => {
      const { listen } = await import('./listen-command.ts');
      const stopped = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort());
      await listen(
        process.env,
        { forward: options.forward, events: options.events ?? [], secret: options.secret, signal: stopped.signal },
        (line) => console.error(line),
        (event) =>
          print.lines([
            options.json
              ? JSON.stringify(event)
              : `${event.at}  ${event.event_type}  ${event.id}  ${event.status ?? event.error}`,
          ]),
      );
    });
  return webhooks;
}

function eventsCommand(show: Show): Command {
  const events = area('events', `events of your product, ${THROUGH}`);
  asJson(
    events
      .command('send')
      .description('report an event of your product, as its code would')
      .argument('<name>', 'such as trial.started')
      .option('--email <address>', 'email address of the person', emailAddress)
      .option('--contact <id>', 'the contact')
      .option('--user <id>', 'account of the person in your product')
      .option('--at <moment>', 'moment of the event (RFC 3339); default: now', (value) => moment(value).toISOString())
      .option('--data <key=value>', 'a property, may be repeated; JSON values are parsed', property, {}),
  ).action(async (name: string, options: Listing & Omit<ProductEventInput, 'name'>) =>
    show(await (await work()).sendEvent(process.env, { ...options, name }), options),
  );
  return events;
}

interface Listing {
  limit: number;
  json?: boolean;
}

/** Creates a group of commands. Invalid arguments throw an error, as in all other commands. */
function area(name: string, description: string): Command {
  return new Command(name).exitOverride().description(description);
}

function asJson(command: Command): Command {
  return command.option('--json', 'answer of the API as JSON');
}

function listing(command: Command): Command {
  return asJson(command.option('--limit <n>', 'maximum number of rows', wholeNumber, LISTED));
}

function commas(value: string): string[] {
  return value
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
}

function property(given: string, earlier: Record<string, unknown>): Record<string, unknown> {
  const at = given.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('This is not key=value.');
  return { ...earlier, [given.slice(0, at)]: valueOf(given.slice(at + 1)) };
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
