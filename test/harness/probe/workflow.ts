import { proxyActivities, type ActivityOptions } from '@temporalio/workflow';

/** One activity to run: its type, its arguments, and how it is scheduled. */
export interface Probe {
  activity: string;
  args: unknown[];
  options: ActivityOptions;
}

/** Runs one activity and answers what it answered. */
export async function probe({ activity, args, options }: Probe): Promise<unknown> {
  return proxyActivities<Record<string, (...args: unknown[]) => Promise<unknown>>>(options)[activity]!(...args);
}
