import { Checkbox, NumberInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Form } from '../../components/form.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { useText } from '../../text/index.ts';

type Rule = AnswerOf<'/v1/acquisition/attribution/settings'>;

/** Largest value (days) that the API accepts for the maximum age of a credited email. */
const MAX_DAYS = 365;

/** Dialog for the rule that decides which email gets the credit for a customer. */
export default function CreditRule({ close }: { close: () => void }) {
  const t = useText();
  const rule = useQuery({
    queryKey: ['settings', 'credit'],
    queryFn: () => dataOf(heron.GET('/v1/acquisition/attribution/settings')),
  });
  return (
    <Dialog title={t('creditRule.title')} onClose={close}>
      <Answered query={rule} skeleton={<ListSkeleton rows={2} height={40} />}>
        {(data) => <RuleForm rule={data} close={close} />}
      </Answered>
    </Dialog>
  );
}

function RuleForm({ rule, close }: { rule: Rule; close: () => void }) {
  const t = useText();
  const [days, setDays] = useState(rule.window_days);
  const [isEstimating, setEstimating] = useState(rule.company_estimates);
  const save = useAction(
    () =>
      dataOf(
        heron.PUT('/v1/acquisition/attribution/settings', {
          body: { window_days: days, company_estimates: isEstimating },
        }),
      ),
    { stale: [['reports'], ['settings']], done: t('saved'), isShown: true, onDone: close },
  );
  return (
    <Form act={save} submit={t('save')}>
      <NumberInput
        label={t('creditRule.days')}
        description={t('creditRule.days.why')}
        required
        min={1}
        allowDecimal={false}
        max={MAX_DAYS}
        value={days}
        onChange={(value) => setDays(Number(value))}
      />
      <Checkbox
        label={t('creditRule.estimates')}
        description={t('creditRule.estimates.why')}
        checked={isEstimating}
        onChange={(event) => setEstimating(event.currentTarget.checked)}
      />
    </Form>
  );
}
