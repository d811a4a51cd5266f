import { advanceAutomation } from '../domain/connect/automations/advance.ts';
import { callAutomationApp } from '../domain/connect/automations/call.ts';
import { AUTOMATION_LOOP, AUTOMATION_RUN } from '../domain/platform/dead-letters.ts';
import { automationWorkflow, type AutomationActivities } from '../workflows/automation/contract.ts';
import { callVerb } from './call-verb.ts';
import { family } from './family.ts';
import { assertNotBusy } from './retry-later.ts';

/** Activities of automation runs that wait or call another system. */
export const automation = family<AutomationActivities>({
  contract: automationWorkflow,
  queue: { advanceAutomation: 'workflows', callAutomationApp: 'apps' },
  activities: ({ deps, metrics, appCalls }) => ({
    advanceAutomation: (args) => callVerb(deps, args, (ctx) => advanceAutomation(ctx, args.runId)),

    async callAutomationApp({ organizationId, ...node }) {
      const result = await callVerb(deps, { organizationId }, (ctx) => callAutomationApp(ctx, node, appCalls));
      assertNotBusy(metrics, result);
      return { outcome: result.outcome };
    },
  }),
  mustBeOpen: { table: 'automation_runs', open: `status = 'running'` },
  blocked: { taskType: AUTOMATION_RUN, restricted: 'readOnly' },
  // A run that was not started, because automations trigger each other in a loop or start too many runs. A retry has no
  // effect. A person resolves the dead letter after reviewing the automations.
  deadLetters: [{ taskType: AUTOMATION_LOOP, restricted: 'readOnly', retry: async () => {} }],
});
