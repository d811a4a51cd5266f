import { id, PAGE } from './arguments.ts';
import type { ToolSpec } from './tool.ts';

/** Tools for deals and tasks, each with the operation id of its route. */
export const CRM_TOOLS: readonly (readonly [operationId: string, spec: Omit<ToolSpec, 'route'>])[] = [
  [
    'crm.listPipelines',
    {
      name: 'list_pipelines',
      title: 'List sales pipelines',
      group: 'crm',
      description:
        'Lists the pipelines of the workspace in their order, each with its stages and the number of deals in each. Creating a deal needs the ids of a pipeline and of one of its stages.',
      arguments: {},
    },
  ],
  [
    'crm.searchDeals',
    {
      name: 'search_deals',
      title: 'Search deals',
      group: 'crm',
      description:
        "Finds deals by part of the name, state, pipeline, stage, member, campaign, value and dates. A deal must match all filters; `total` is exact. Values are in units of each deal's currency. Keep the filters unchanged while paging.",
      arguments: {
        query: 'body.query',
        statuses: 'body.statuses',
        pipeline_ids: { at: 'body.pipeline_ids', description: 'From list_pipelines' },
        stage_ids: { at: 'body.stage_ids', description: 'From list_pipelines' },
        campaign_ids: { at: 'body.campaign_ids', description: 'From list_campaigns' },
        min_value: 'body.min_value',
        max_value: 'body.max_value',
        close_after: 'body.close_after',
        close_before: 'body.close_before',
        sort_by: 'body.sort_by',
        reverse: 'body.reverse',
        ...PAGE,
      },
    },
  ],
  [
    'crm.createDeal',
    {
      name: 'create_deal',
      title: 'Create a deal',
      group: 'crm',
      description:
        'Creates an open deal in a stage of a pipeline, for example for a contact who showed interest. A value with more decimals than its currency is refused.',
      arguments: {
        pipeline_id: { at: 'body.pipeline_id', description: 'Pipeline id, from list_pipelines', required: true },
        stage_id: { at: 'body.stage_id', description: 'Id of a stage of that pipeline', required: true },
        name: { at: 'body.name', description: 'Name of the deal in lists', required: true },
        contact_id: { at: 'body.contact_id', description: 'Contact id, from search_contacts' },
        value: 'body.value',
        currency: 'body.currency',
        expected_close_date: 'body.expected_close_date',
        campaign_id: { at: 'body.campaign_id', description: 'Id of the campaign that led to the deal' },
      },
    },
  ],
  [
    'crm.updateDeal',
    {
      name: 'update_deal',
      title: 'Move, close or change a deal',
      group: 'crm',
      description:
        'Changes the given fields. stage_id moves a deal within its pipeline; status won or lost closes it, open reopens it.',
      destructive: true,
      repeatable: true,
      arguments: {
        deal_id: id('deal', 'search_deals or create_deal'),
        stage_id: { at: 'body.stage_id', description: "Id of a stage of the deal's pipeline" },
        status: 'body.status',
        name: 'body.name',
        value: 'body.value',
        currency: 'body.currency',
        expected_close_date: 'body.expected_close_date',
        lost_reason: 'body.lost_reason',
      },
    },
  ],
  [
    'crm.searchTasks',
    {
      name: 'search_tasks',
      title: 'Search tasks of people',
      group: 'crm',
      description:
        'Finds tasks of people about contacts and deals: by part of the title, state, priority, type, contact, deal and due date. `overdue` finds late tasks. Keep the filters unchanged while paging.',
      arguments: {
        query: 'body.query',
        statuses: 'body.statuses',
        priorities: 'body.priorities',
        types: 'body.types',
        contact_id: { at: 'body.contact_id', description: 'From search_contacts' },
        deal_id: { at: 'body.deal_id', description: 'From search_deals' },
        due_after: 'body.due_after',
        due_before: 'body.due_before',
        overdue: 'body.overdue',
        sort_by: 'body.sort_by',
        reverse: 'body.reverse',
        ...PAGE,
      },
    },
  ],
  [
    'crm.createTask',
    {
      name: 'create_task',
      title: 'Create a task for a person',
      group: 'crm',
      description:
        'Creates a task for a person of the workspace, about a contact, a deal or neither. Heron does not carry it out.',
      arguments: {
        title: { at: 'body.title', description: 'Title of the task', required: true },
        contact_id: { at: 'body.contact_id', description: 'From search_contacts' },
        deal_id: { at: 'body.deal_id', description: 'From search_deals' },
        description: 'body.description',
        due_date: 'body.due_date',
        priority: 'body.priority',
        type: { at: 'body.type', description: 'Name of a task type, such as Call' },
      },
    },
  ],
  [
    'crm.updateTask',
    {
      name: 'update_task',
      title: 'Complete or change a task',
      group: 'crm',
      description: 'Changes the given fields; status completed completes the task.',
      destructive: true,
      repeatable: true,
      arguments: {
        task_id: id('task', 'search_tasks or create_task'),
        status: 'body.status',
        title: 'body.title',
        description: 'body.description',
        due_date: 'body.due_date',
        priority: 'body.priority',
        type: { at: 'body.type', description: 'Name of a task type, such as Call' },
      },
    },
  ],
];
