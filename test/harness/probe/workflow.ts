import { proxyActivities, type ActivityOptions } from '@temporalio/workflow';

/** One activity to run: its type, its arguments, and how it is scheduled. */
interface Probe {
  activity: string;
  args: unknown[];
  options: ActivityOptions;
  /** How often, side by side; once when not given. */
  times?: number;
}

/** Runs one activity and answers what it answered; of several runs side by side, the answer of the last. */
export async function probe({ activity, args, options, times = 1 }: Probe): Promise<unknown> {
  const run = proxyActivities<Record<string, (...args: unknown[]) => Promise<unknown>>>(options)[activity]!;
  const answers = await Promise.all(Array.from({ length: times }, () => run(...args)));
  return answers.at(-1);
}
