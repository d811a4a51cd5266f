/** Size of the demo. Both sizes have the same chapters and checks. */
export interface Size {
  /** Number of people per role; `all` assigns a role to every contact of the list, by shares. */
  perRole: number | 'all';
  /**
   * Number of mailboxes. `ownOfTrouble` of them are reserved for the second chapter; if it is 0, that chapter shares
   * those of the campaign.
   */
  mailboxes: number;
  ownOfTrouble: number;
  /** Duration (minutes) of the campaign's wait for an event. */
  waitMinutes: number;
  /** Factor by which the times of the {@link Role}s are multiplied. */
  pace: number;
}

/** Small size: two people per role, who act quickly. Waits end after half a minute. */
export const SHORT: Size = { perRole: 2, mailboxes: 6, ownOfTrouble: 3, waitMinutes: 0.5, pace: 0.2 };

/**
 * Full size: everybody in leads.csv, at a realistic pace. A mailbox sends at most 100 campaign emails a day, so all ten
 * mailboxes of a free workspace are needed.
 */
export const FULL: Size = { perRole: 'all', mailboxes: 10, ownOfTrouble: 0, waitMinutes: 1, pace: 1 };
