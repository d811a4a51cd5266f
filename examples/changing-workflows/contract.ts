/** Activities of the example workflow: a trial that ends with an email. */
export interface TrialActivities {
  remind(trialId: string): Promise<void>;
  endTrial(trialId: string): Promise<void>;
}

/** Length of a trial (days), and the day on which its reminder is sent. */
export const TRIAL_DAYS = 14;
export const REMINDER_DAY = 11;
