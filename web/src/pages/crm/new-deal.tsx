import { Button, Modal, NumberInput, Select, SimpleGrid, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import IconPlus from 'tabler:plus';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { ContactSelect } from '../../components/contact-select.tsx';
import { Form } from '../../components/form.tsx';
import { amountProps, CURRENCIES } from '../../components/money.ts';
import { useText } from '../../text/index.ts';
import type { Pipeline } from './deals.ts';

/** Dialog that creates a deal in a pipeline. */
export function NewDeal({ pipeline }: { pipeline: Pipeline }) {
  const t = useText();
  const [isOpen, dialog] = useDisclosure();
  const [name, setName] = useState('');
  const [contact, setContact] = useState<string | null>(null);
  const [stage, setStage] = useState(pipeline.stages[0]?.id ?? null);
  const [value, setValue] = useState<number | string>('');
  const [currency, setCurrency] = useState('USD');
  const add = useAction(
    () =>
      dataOf(
        heron.POST('/v1/crm/deals', {
          body: {
            pipeline_id: pipeline.id,
            stage_id: stage ?? '',
            name,
            contact_id: contact,
            ...(value === '' ? {} : { value: Number(value) }),
            currency,
          },
        }),
      ),
    {
      stale: [['deals']],
      done: t('crm.deal.added'),
      isShown: true,
      onDone: () => {
        setName('');
        setValue('');
        setContact(null);
        dialog.close();
      },
    },
  );
  return (
    <>
      <Button
        leftSection={<IconPlus size={16} />}
        aria-haspopup="dialog"
        onClick={dialog.open}
        disabled={pipeline.stages.length === 0}
      >
        {t('crm.deal.new')}
      </Button>
      <Modal opened={isOpen} onClose={dialog.close} title={t('crm.deal.new')}>
        <Form act={add} submit={t('crm.deal.new')}>
          <TextInput
            label={t('crm.deal.name')}
            required
            maxLength={255}
            data-autofocus
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <ContactSelect label={t('crm.contact')} value={contact} onChange={setContact} />
          <SimpleGrid cols={2}>
            <NumberInput label={t('crm.value')} min={0} value={value} onChange={setValue} {...amountProps()} />
            <Select
              label={t('crm.currency')}
              data={CURRENCIES}
              value={currency}
              onChange={(code) => setCurrency(code ?? 'USD')}
              allowDeselect={false}
              searchable
            />
          </SimpleGrid>
          <Select
            label={t('crm.stage')}
            data={pipeline.stages.map(({ id, name: label }) => ({ value: id, label }))}
            value={stage}
            onChange={setStage}
            allowDeselect={false}
          />
        </Form>
      </Modal>
    </>
  );
}
