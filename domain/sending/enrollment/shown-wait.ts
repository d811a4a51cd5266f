import { message, type Message } from '../../../messages/index.ts';

interface StoredWait {
  waiting_for: Message | null;
  waiting_until: Date | null;
}

interface Asleep {
  state: string;
  blocked: boolean;
  campaignStatus: string;
}

/**
 * Returns the wait of a lead for people. A pause wakes no run, so the row of a run that sleeps keeps its earlier plan.
 * Until the campaign resumes, that plan does not apply. A blocked run keeps its reason, which a person must act on.
 */
export function shownWait(wait: StoredWait, { state, blocked, campaignStatus }: Asleep): StoredWait {
  const isStopped = campaignStatus !== 'active' && state === 'active' && !blocked;
  return isStopped ? { waiting_for: message('wait.campaign_paused'), waiting_until: null } : wait;
}
