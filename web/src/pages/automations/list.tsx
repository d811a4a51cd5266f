import { Button, Modal, Select, Switch, Table, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import IconPlus from 'tabler:plus';
import IconRoute from 'tabler:route';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { Form } from '../../components/form.tsx';
import { Page } from '../../components/page.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { PageLink, useGoTo } from '../../components/page-link.tsx';
import { toTriggerChoice, triggerName } from '../../components/trigger-names.ts';
import { TRIGGERS } from '../../components/triggers.ts';
import { toNumber, useText } from '../../text/index.ts';
import { PagedTable } from '../../components/paged.tsx';
import { switchAutomation, useMayChange, type Automation } from './flow.ts';

/** Page of all automations with their triggers and switches. */
export default function AutomationsPage() {
  const t = useText();
  const list = useQuery({ queryKey: ['automations', 'list'], queryFn: () => dataOf(heron.GET('/v1/automations')) });
  const mayChange = useMayChange();
  const write = mayChange ? <New /> : null;
  return (
    <Page
      title={t('nav.automations')}
      lead={t('automations.lead')}
      actions={list.data?.automations.length ? write : null}
    >
      <Answered query={list} skeleton={<ListSkeleton />}>
        {({ automations }) =>
          automations.length === 0 ? (
            <Empty icon={IconRoute} title={t('automations.empty')} action={write}>
              {t('automations.empty.why')}
            </Empty>
          ) : (
            <PagedTable
              minWidth={620}
              columns={[
                { label: t('automations.name') },
                { label: t('automations.when'), isExtra: true },
                { label: t('automations.steps'), isNumber: true, isExtra: true },
                { label: t('automations.changed'), isExtra: true },
                { label: t('automations.on') },
              ]}
            >
              {automations.map((one) => (
                <Row key={one.id} automation={one} mayChange={mayChange} />
              ))}
            </PagedTable>
          )
        }
      </Answered>
    </Page>
  );
}

function Row({ automation, mayChange }: { automation: Automation; mayChange: boolean }) {
  const t = useText();
  const turning = useAction((enabled: boolean) => switchAutomation(automation, enabled), { stale: [['automations']] });
  const { id, name, trigger_event: trigger, graph } = automation;
  return (
    <Table.Tr>
      <Table.Td maw={{ base: 180, sm: 400 }} className="clip">
        <PageLink to={`/automations/${id}`} fw={600} size="sm" title={name}>
          {name}
        </PageLink>
      </Table.Td>
      <Table.Td>{trigger === 'automation.called' ? t('automations.called') : triggerName(trigger)}</Table.Td>
      <Table.Td ta="right">{toNumber(graph.nodes.length - 1)}</Table.Td>
      <Table.Td c="dimmed">
        <Ago at={automation.updated_at} />
      </Table.Td>
      <Table.Td>
        <Switch
          checked={turning.isPending ? turning.variables : automation.enabled}
          onChange={(event) => turning.mutate(event.currentTarget.checked)}
          disabled={!mayChange}
          aria-label={t('automations.on.of', { name })}
        />
      </Table.Td>
    </Table.Tr>
  );
}

/** Dialog that creates a disabled automation with only its trigger. */
function New() {
  const t = useText();
  const go = useGoTo();
  const [isOpen, dialog] = useDisclosure();
  const [name, setName] = useState('');
  const [trigger, setTrigger] = useState<string | null>('email.replied');
  const create = useAction(
    () =>
      dataOf(
        heron.POST('/v1/automations', {
          body: {
            name,
            enabled: false,
            trigger_event: trigger ?? '',
            filter: {},
            graph: { nodes: [{ id: 'trigger', type: 'trigger', x: 0, y: 0 }], edges: [] },
          },
        }),
      ),
    {
      stale: [['automations']],
      isShown: true,
      onDone: ({ automation }) => go(`/automations/${automation.id}`),
    },
  );
  return (
    <>
      <Button leftSection={<IconPlus size={16} />} aria-haspopup="dialog" onClick={dialog.open}>
        {t('automations.new')}
      </Button>
      <Modal opened={isOpen} onClose={dialog.close} title={t('automations.new')}>
        <Form act={create} submit={t('automations.create')}>
          <TextInput
            label={t('automations.name')}
            required
            maxLength={255}
            data-autofocus
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Select
            label={t('automations.when')}
            data={[{ value: 'automation.called', label: t('automations.called') }, ...TRIGGERS.map(toTriggerChoice)]}
            value={trigger}
            onChange={setTrigger}
            searchable
            allowDeselect={false}
          />
        </Form>
      </Modal>
    </>
  );
}
