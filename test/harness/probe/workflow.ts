import { proxyActivities, type ActivityOptions } from '@temporalio/workflow';

/** One activity to run: its type, arguments and scheduling options. */
interface Probe {
  activity: string;
  args: unknown[];
  options: ActivityOptions;
  /** Number of parallel executions. Default: 1. */
  times?: number;
}

/** Runs one activity and returns its result; of several executions, that of the last. */
export async function probe({ activity, args, options, times = 1 }: Probe): Promise<unknown> {
  const run = proxyActivities<Record<string, (...args: unknown[]) => Promise<unknown>>>(options)[activity]!;
  const answers = await Promise.all(Array.from({ length: times }, () => run(...args)));
  return answers.at(-1);
}
