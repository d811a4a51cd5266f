/** What the recorded databases are sealed under. */
export const KEY = '4e'.repeat(32);
/** Contacts that wait for {@link EVENT} after their first email, in each recorded database; one more is not launched yet. */
export const PEOPLE = 3;
/** The event that they wait for. */
export const EVENT = 'order.paid';
/** How long they wait for it. */
export const TIMEOUT_MINUTES = 60;
