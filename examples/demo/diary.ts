import type { LetterName } from './campaign.ts';
import type { Letter } from './world.ts';

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

/** One thing a recipient did. */
interface Entry {
  deed: Deed;
  email: string;
  letter: LetterName;
  /** When it was done: after the product's answer, where it gives one. */
  at: Date;
  /** A date of return, an order number. */
  detail: string;
}

/** The recipients' own record of what they did: one side of the reckoning at the end. */
export interface Diary {
  entries: readonly Entry[];
  /** Acts that went wrong, in words. */
  troubles: readonly string[];
  write: (deed: Deed, letter: Pick<Letter, 'to' | 'name'>, detail?: string) => void;
  complain: (trouble: string) => void;
  /** Who did this, as `address/letter`. */
  who: (deed: Deed) => Set<string>;
}

/** Starts an empty diary. */
export function startDiary(): Diary {
  const entries: Entry[] = [];
  const troubles: string[] = [];
  return {
    entries,
    troubles,
    write: (deed, letter, detail = '') =>
      void entries.push({ deed, email: letter.to, letter: letter.name, at: new Date(), detail }),
    complain: (trouble) => void troubles.push(trouble),
    who: (deed) =>
      new Set(entries.filter((entry) => entry.deed === deed).map(({ email, letter }) => `${email}/${letter}`)),
  };
}
