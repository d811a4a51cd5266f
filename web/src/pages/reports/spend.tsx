import { Button, NumberInput, Select, SimpleGrid, Text } from '@mantine/core';
import { useState } from 'react';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import type { Key } from '../../app/query-keys.ts';
import { useAction } from '../../components/action.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Form } from '../../components/form.tsx';
import { amountProps, CURRENCIES, minorDigits } from '../../components/money.ts';
import { useText } from '../../text/index.ts';

const stale: readonly Key[] = [['reports']];

/** Dialog that sets, changes or removes the total cost of a campaign. */
export default function SpendDialog({
  campaignId,
  name,
  spend,
  close,
}: {
  campaignId: string;
  name: string;
  /** Stored cost; undefined if none is set. */
  spend: AnswerOf<'/v1/acquisition/breakdown'>['rows'][number]['spend'];
  close: () => void;
}) {
  const t = useText();
  const [currency, setCurrency] = useState(spend?.currency ?? 'EUR');
  const [amount, setAmount] = useState<string | number>(
    spend ? spend.amount_minor / 10 ** minorDigits(spend.currency) : '',
  );
  const params = { params: { path: { campaignId } } };
  const save = useAction(
    () =>
      dataOf(
        heron.PUT('/v1/acquisition/campaign-spend/{campaignId}', {
          ...params,
          body: { amount_minor: Math.round(Number(amount) * 10 ** minorDigits(currency)), currency },
        }),
      ),
    { stale, done: t('saved'), isShown: true, onDone: close },
  );
  const remove = useAction(() => dataOf(heron.DELETE('/v1/acquisition/campaign-spend/{campaignId}', params)), {
    stale,
    done: t('spend.removed'),
    onDone: close,
  });
  return (
    <Dialog onClose={close} title={t('spend.of', { name })}>
      <Form act={save} submit={t('save')}>
        <Text size="sm" c="dimmed">
          {t('spend.why')}
        </Text>
        <SimpleGrid cols={2}>
          <NumberInput
            label={t('spend.total')}
            required
            min={0}
            decimalScale={minorDigits(currency)}
            value={amount}
            onChange={setAmount}
            data-autofocus
            {...amountProps()}
          />
          <Select
            label={t('goals.currency')}
            data={CURRENCIES}
            value={currency}
            onChange={(code) => setCurrency(code ?? currency)}
            allowDeselect={false}
            searchable
          />
        </SimpleGrid>
      </Form>
      {spend ? (
        <Button size="xs" variant="subtle" c="red" onClick={() => remove.mutate()} loading={remove.isPending}>
          {t('spend.remove')}
        </Button>
      ) : null}
    </Dialog>
  );
}
