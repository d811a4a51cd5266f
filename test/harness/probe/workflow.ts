import { proxyActivities, type ActivityOptions } from '@temporalio/workflow';

/** Activity to run: its type, arguments and scheduling options. */
interface Probe {
  activity: string;
  args: unknown[];
  options: ActivityOptions;
  /** Number of parallel executions. Default: 1. */
  times?: number;
}

/** Runs one activity and returns its result. Of several executions, it returns the last result. */
export async function probe({ activity, args, options, times = 1 }: Probe): Promise<unknown> {
  const run = proxyActivities<Record<string, (...args: unknown[]) => Promise<unknown>>>(options)[activity]!;
  const answers = await Promise.all(Array.from({ length: times }, () => run(...args)));
  return answers.at(-1);
}
