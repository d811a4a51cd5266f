import type { AnswerOf } from '../../app/api.ts';
import { Facts } from '../../components/facts.tsx';
import { Ago } from '../../components/time.tsx';
import { toNumber, useText } from '../../text/index.ts';

type Policy = Pick<
  AnswerOf<'/v1/agent-policies/effective'>,
  | 'capabilities'
  | 'mailbox_ids'
  | 'max_recipients_per_run'
  | 'max_recipients_per_day'
  | 'max_actions_per_day'
  | 'max_monthly_mailbox_spend_cents'
  | 'expires_at'
>;

/**
 * Shows the actions that a policy allows without an approval.
 * @param explained true to explain limits that are not set
 */
export function Limits({ policy, explained = false }: { policy: Policy; explained?: boolean }) {
  const t = useText();
  const amount = (value: number | null) => (value === null ? null : toNumber(value));
  return (
    <Facts
      rows={[
        [t('agents.may'), policy.capabilities.map((one) => t(`agents.capability.${one}`)).join(', ')],
        [t('agents.mailboxes'), policy.mailbox_ids === null ? null : toNumber(policy.mailbox_ids.length)],
        [t('agents.perRun'), amount(policy.max_recipients_per_run)],
        [t('agents.perDay'), amount(policy.max_recipients_per_day)],
        [t('agents.actions'), amount(policy.max_actions_per_day)],
        [
          t('agents.spend'),
          policy.max_monthly_mailbox_spend_cents === null
            ? explained && policy.capabilities.includes('mailbox.provision')
              ? t('agents.spend.none')
              : null
            : t('agents.spend.most', {
                amount: toNumber(policy.max_monthly_mailbox_spend_cents / 100, { minimumFractionDigits: 2 }),
              }),
        ],
        [t('agents.expires'), policy.expires_at ? <Ago at={policy.expires_at} /> : null],
      ]}
    />
  );
}
