import { replaceSenders } from '../../domain/campaigns/senders.ts';
import { updateStep } from '../../domain/campaigns/steps.ts';
import { updateCampaign } from '../../domain/campaigns/update.ts';
import type { Ctx } from '../../domain/platform/kernel/context.ts';
import { removeMailbox, updateMailbox } from '../../domain/mailboxes/update.ts';
import type { Built } from './build.ts';
import type { Happening } from './draw.ts';
import type { Ledger } from './ledger.ts';

/** A built world with its ids, and the ledger of what can be observed from outside. */
export interface Stage {
  ctx: Ctx;
  ledger: Ledger;
  built: Built;
}

/** Applies a person's edit of a campaign: its window, the wait (days) before its second email, or its pool. */
export async function editCampaign(
  { ctx, ledger, built }: Stage,
  happening: Extract<Happening, { kind: 'window' | 'wait' | 'pool' }>,
): Promise<void> {
  const { at, campaign } = happening;
  const { id, tag, steps } = built.campaigns[campaign]!;
  const rules = ledger.rulesAt(campaign, at);
  switch (happening.kind) {
    case 'window': {
      if (rules.hours) return;
      const [start, end] = happening.window;
      await updateCampaign(ctx, id, { start_time: start, end_time: end, schedule_windows: [] });
      return ledger.setRules(campaign, { windows: [happening.window] }, at);
    }
    case 'wait': {
      const place = rules.steps.findIndex(({ kind }) => kind === 'email');
      if (place < 0) return;
      await updateStep(ctx, id, steps[place + 1]!, { wait_after: happening.waitDays });
      const changed = rules.steps.map((step, index) =>
        index === place && step.kind === 'email' ? { ...step, waitDays: happening.waitDays } : step,
      );
      return ledger.setRules(campaign, { steps: changed }, at);
    }
    case 'pool': {
      const there = happening.pool.filter((place) => ledger.mailboxAt(place, at).state !== 'removed');
      if (rules.pool && rules.poolBy === 'tags') {
        for (const [place, mailbox] of built.mailboxes.entries())
          if (ledger.mailboxAt(place, at).state !== 'removed')
            await updateMailbox(ctx, mailbox, { tags: there.includes(place) ? [tag] : [] });
      } else {
        // A campaign that sends from all mailboxes has no pool that could be emptied.
        if (!rules.pool && there.length === 0) return;
        await replaceSenders(
          ctx,
          id,
          there.map((place) => ({ email_account_id: built.mailboxes[place]!, weight: 1, enabled: true })),
        );
      }
      return ledger.setRules(campaign, { pool: there }, at);
    }
  }
}

/** Applies a person's edit of a mailbox: changes it, disables or enables it, or removes it. */
export async function editMailbox(
  { ctx, ledger, built }: Stage,
  happening: Extract<Happening, { kind: 'cap' | 'gap' | 'off' | 'on' | 'removeMailbox' }>,
): Promise<void> {
  const { at, mailbox } = happening;
  if (ledger.mailboxAt(mailbox, at).state === 'removed') return;
  const id = built.mailboxes[mailbox]!;
  switch (happening.kind) {
    case 'cap':
      await updateMailbox(ctx, id, { campaign_limit: happening.cap });
      return ledger.setMailbox(mailbox, { cap: happening.cap }, at);
    case 'gap':
      await updateMailbox(ctx, id, { min_wait_time: happening.gapSeconds });
      return ledger.setMailbox(mailbox, { gapSeconds: happening.gapSeconds }, at);
    case 'off':
      await updateMailbox(ctx, id, { status: 'inactive' });
      return ledger.setMailbox(mailbox, { state: 'off' }, at);
    case 'on':
      await updateMailbox(ctx, id, { status: 'active' });
      return ledger.setMailbox(mailbox, { state: 'on' }, at);
    case 'removeMailbox':
      await removeMailbox(ctx, id);
      return ledger.setMailbox(mailbox, { state: 'removed' }, at);
  }
}
