import type { EmailName } from './campaign.ts';
import type { Email } from './world.ts';

export type Deed =
  | 'opened'
  | 'machine_opened'
  | 'clicked'
  | 'machine_clicked'
  | 'replied'
  | 'away'
  | 'bounced'
  | 'unsubscribed'
  | 'bought';

/** Action of a recipient, as recorded in the diary. */
interface Entry {
  deed: Deed;
  email: string;
  emailName: EmailName;
  /** Time of the action: after the product's answer, if there is one. */
  at: Date;
  /** Detail of the action: a return date or an order number. */
  detail: string;
}

/** The recipients' own record of their actions, compared with the product at the end. */
export interface Diary {
  entries: readonly Entry[];
  /** Descriptions of failed actions. */
  troubles: readonly string[];
  write: (deed: Deed, email: Pick<Email, 'to' | 'name'>, detail?: string) => void;
  complain: (trouble: string) => void;
  /** Returns the people who performed this action, each as address and name of the email, such as `address/hello`. */
  who: (deed: Deed) => Set<string>;
}

/** Creates an empty diary. */
export function startDiary(): Diary {
  const entries: Entry[] = [];
  const troubles: string[] = [];
  return {
    entries,
    troubles,
    write: (deed, email, detail = '') =>
      void entries.push({ deed, email: email.to, emailName: email.name, at: new Date(), detail }),
    complain: (trouble) => void troubles.push(trouble),
    who: (deed) =>
      new Set(entries.filter((entry) => entry.deed === deed).map(({ email, emailName }) => `${email}/${emailName}`)),
  };
}
