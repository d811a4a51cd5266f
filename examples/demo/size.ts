/** A telling of the demo. Both have the same chapters and the same checks. */
export interface Size {
  /** People per role; `all` gives every contact of the list a role, by shares. */
  perRole: number | 'all';
  /** Mailboxes, and how many of them the second chapter has for itself; without any it shares those of the campaign. */
  mailboxes: number;
  ownOfTrouble: number;
  /** Length of the campaign's wait for an event, in minutes. */
  waitMinutes: number;
  /** Factor of the times of {@link Role}s. */
  pace: number;
}

/** Two people per role, who are quick. What they wait for ends after half a minute. */
export const SHORT: Size = { perRole: 2, mailboxes: 6, ownOfTrouble: 3, waitMinutes: 0.5, pace: 0.2 };

/** Everybody in leads.csv, as people take their time. A mailbox sends at most 100 campaign emails a day, so it takes all ten of a free workspace. */
export const FULL: Size = { perRole: 'all', mailboxes: 10, ownOfTrouble: 0, waitMinutes: 1, pace: 1 };
