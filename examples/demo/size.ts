/** Size of the demo. Both sizes have the same chapters and checks. */
export interface Size {
  /** Number of people per role; `all` assigns a role to every contact of the list, by shares. */
  perRole: number | 'all';
  /**
   * Number of mailboxes, and how many of them are reserved for the second chapter. With 0 the second chapter shares
   * those of the campaign.
   */
  mailboxes: number;
  ownOfTrouble: number;
  /** Duration (minutes) of the campaign's wait for an event. */
  waitMinutes: number;
  /** Factor of the times of {@link Role}s. */
  pace: number;
}

/** Two quick people per role. Waits end after half a minute. */
export const SHORT: Size = { perRole: 2, mailboxes: 6, ownOfTrouble: 3, waitMinutes: 0.5, pace: 0.2 };

/**
 * Everybody in leads.csv at a realistic pace. A mailbox sends at most 100 campaign emails a day, so all ten of a free
 * workspace are needed.
 */
export const FULL: Size = { perRole: 'all', mailboxes: 10, ownOfTrouble: 0, waitMinutes: 1, pace: 1 };
