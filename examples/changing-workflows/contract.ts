/** Activities of the example: a trial that ends with an email. */
export interface TrialActivities {
  remind(trialId: string): Promise<void>;
  endTrial(trialId: string): Promise<void>;
}

/** Duration of a trial and day of its reminder, in days. */
export const TRIAL_DAYS = 14;
export const REMINDER_DAY = 11;
