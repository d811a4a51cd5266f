import type { Actor } from '../../../domain/platform/kernel/actor.ts';
import { toolsFor } from '../tools/call.ts';
import { TOOL_GROUPS, type AgentTool, type ToolGroup } from '../tools/tool.ts';

/** Names of the two tools that describe and call tools outside the list. */
export const LIST_TOOLS = 'list_tools';
export const CALL_TOOL = 'call_tool';

/** Descriptions of the tool groups for the model. */
const CONTENTS: Record<Exclude<ToolGroup, 'core'>, string> = {
  mailboxes: 'one mailbox in detail, tags',
  campaigns: 'steps, log, scores, test runs, cancelling of runs, actions and changes of steps, categories, segments',
  inbox: 'new emails to single people, cancelling of emails',
  crm: 'pipelines, deals, tasks of people',
  reports: 'numbers of a campaign and of the workspace, results of emails',
  events: 'product events',
};

/** Description of a tool in the format of MCP. */
interface Description {
  name: string;
  title: string;
  description: string;
  inputSchema: { type: 'object'; [keyword: string]: unknown };
  outputSchema?: { type: 'object'; [keyword: string]: unknown };
  annotations: Record<string, boolean>;
}

/**
 * Returns the tools to list to a client: the tools of its groups that the caller may call. If other groups have further
 * tools, adds two tools that describe and call them, because MCP cannot list tools in parts.
 */
export function listedTools(actor: Actor, groups: ReadonlySet<ToolGroup>): Description[] {
  const permitted = toolsFor(actor);
  const listed = permitted.filter(({ group }) => groups.has(group)).map(describe);
  const hidden = TOOL_GROUPS.filter(
    (group): group is keyof typeof CONTENTS =>
      group !== 'core' && !groups.has(group) && permitted.some((tool) => tool.group === group),
  );
  return hidden.length > 0 ? [...listed, listTools(hidden), callTool()] : listed;
}

/** Returns descriptions of the tools in one group that the caller may call. */
export function toolsOfGroup(
  actor: Actor,
  group: unknown,
): Pick<Description, 'name' | 'description' | 'inputSchema'>[] {
  return toolsFor(actor)
    .filter((tool) => tool.group === group)
    .map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
}

function listTools(hidden: readonly (keyof typeof CONTENTS)[]): Description {
  const contents = hidden.map((group) => `${group} (${CONTENTS[group]})`).join('; ');
  return {
    name: LIST_TOOLS,
    title: 'List more tools',
    description: `Describes the tools of a group that is not listed here; ${CALL_TOOL} calls them. Groups: ${contents}.`,
    inputSchema: {
      type: 'object',
      properties: { group: { type: 'string', enum: hidden } },
      required: ['group'],
      additionalProperties: false,
    },
    outputSchema: { type: 'object', properties: { tools: { type: 'array' } } },
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
}

function callTool(): Description {
  return {
    name: CALL_TOOL,
    title: 'Call a tool that is not listed',
    description: `Calls a tool that ${LIST_TOOLS} described, by its name and with its arguments.`,
    inputSchema: {
      type: 'object',
      properties: { name: { type: 'string' }, arguments: { type: 'object' } },
      required: ['name', 'arguments'],
      additionalProperties: false,
    },
    // `call_tool` can call any tool, so its hints describe the most dangerous one.
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    },
  };
}

function describe(tool: AgentTool): Description {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: tool.inputSchema,
    outputSchema: tool.outputSchema,
    annotations: tool.readOnly
      ? { readOnlyHint: true, openWorldHint: false }
      : {
          readOnlyHint: false,
          destructiveHint: tool.destructive ?? false,
          idempotentHint: tool.repeatable ?? false,
          openWorldHint: tool.openWorld ?? false,
        },
  };
}
