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
 * Returns the wait of a lead as shown to people. A pause signals no workflow, so the row keeps the wait that was
 * planned before. Until the campaign resumes, that plan does not apply. A blocked lead keeps its reason, because a
 * person must act on it.
 */
export function shownWait(wait: StoredWait, { state, blocked, campaignStatus }: Asleep): StoredWait {
  const isStopped = campaignStatus !== 'active' && state === 'active' && !blocked;
  return isStopped ? { waiting_for: message('wait.campaign_paused'), waiting_until: null } : wait;
}
