/** Activities of the example: a trial that ends with a mail. */
export interface TrialActivities {
  remind(trialId: string): Promise<void>;
  endTrial(trialId: string): Promise<void>;
}

/** Days that a trial lasts, and on which the reminder leaves. */
export const TRIAL_DAYS = 14;
export const REMINDER_DAY = 11;
