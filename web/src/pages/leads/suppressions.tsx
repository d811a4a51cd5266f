import { Button, Modal, Table, Text, Textarea, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import IconBan from 'tabler:ban';
import IconPlus from 'tabler:plus';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { shownAddress } from '../../components/address.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { useFilter } from '../../components/filter.ts';
import { Form } from '../../components/form.tsx';
import { isEmptyList, usePaged } from '../../components/paged.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { VirtualTable } from '../../components/virtual-table.tsx';
import { useText } from '../../text/index.ts';
import { LeadsPage } from './pages.tsx';

type Suppression = RowOf<'/v1/suppressions'>;

/** Page of suppressed addresses and domains with their reasons. */
export default function SuppressionsPage() {
  const t = useText();
  const mayWrite = useCan('manage_contacts');
  const [q, setQ] = useFilter('q');
  const list = usePaged(['suppressions', q], (cursor, signal) =>
    dataOf(
      heron.GET('/v1/suppressions', {
        params: { query: { limit: 200, ...(q ? { q } : {}), ...cursor } },
        signal,
      }),
    ),
  );
  return (
    <LeadsPage lead={t('leads.suppressions.lead')} actions={mayWrite ? <Add /> : null}>
      <Answered query={list} skeleton={<ListSkeleton />}>
        {() =>
          isEmptyList(list) && !q ? (
            <Empty icon={IconBan} title={t('leads.suppressions.empty')}>
              {t('leads.suppressions.empty.why')}
            </Empty>
          ) : (
            <>
              <SearchField label={t('leads.suppressions.search')} value={q} onChange={setQ} />
              <VirtualTable<Suppression>
                list={list}
                minWidth={720}
                keyOf={({ id }) => id}
                columns={[
                  { label: t('leads.suppressions.what') },
                  { label: t('leads.suppressions.source'), width: '20%', isExtra: true },
                  { label: t('leads.suppressions.reason'), width: '24%', isExtra: true },
                  { label: t('leads.suppressions.since'), width: 140, isExtra: true },
                  { label: t('leads.suppressions.lift'), width: 140, isHidden: true },
                ]}
              >
                {mayWrite ? cellsWithLift : cellsOf}
              </VirtualTable>
            </>
          )
        }
      </Answered>
    </LeadsPage>
  );
}

const cellsOf = (one: Suppression) => <Cells one={one} mayWrite={false} />;
const cellsWithLift = (one: Suppression) => <Cells one={one} mayWrite />;

function Cells({ one, mayWrite }: { one: Suppression; mayWrite: boolean }) {
  const t = useText();
  const lift = useAction(() => dataOf(heron.DELETE('/v1/suppressions/{id}', { params: { path: { id: one.id } } })), {
    stale: [['suppressions'], ['contacts']],
    done: t('leads.suppressions.lifted'),
    isShown: true,
  });
  return (
    <>
      <Table.Td className="clip" title={shownAddress(one.email)}>
        {one.kind === 'domain'
          ? t('leads.suppressions.domain', { domain: shownAddress(one.email) })
          : shownAddress(one.email)}
      </Table.Td>
      <Table.Td className="clip">{t(`leads.source.${one.source}`)}</Table.Td>
      <Table.Td className="clip" c="dimmed" title={one.reason}>
        {one.reason}
      </Table.Td>
      <Table.Td className="clip" c="dimmed">
        <Ago at={one.created_at} />
      </Table.Td>
      <Table.Td ta="right" py={4}>
        {mayWrite ? (
          <ConfirmButton
            label={t('leads.suppressions.lift')}
            title={t('leads.suppressions.lift.ask', { email: shownAddress(one.email) })}
            act={lift}
            size="compact-xs"
            variant="subtle"
          >
            {t('leads.suppressions.lift.why')}
          </ConfirmButton>
        ) : null}
      </Table.Td>
    </>
  );
}

/** Dialog that suppresses pasted addresses and domains, separated by line breaks or commas. */
function Add() {
  const t = useText();
  const [isOpen, dialog] = useDisclosure();
  const [pasted, setPasted] = useState('');
  const [reason, setReason] = useState('');
  const values = pasted.split(/[\s,;]+/).filter(Boolean);
  const add = useAction(
    () =>
      dataOf(
        heron.POST('/v1/suppressions', {
          body: { entries: values.map((value) => ({ value })), ...(reason ? { reason } : {}) },
        }),
      ),
    {
      stale: [['suppressions'], ['contacts']],
      isShown: true,
      onDone: ({ added, skipped }) => {
        notifications.show({
          message: [
            t('leads.suppressions.added', { count: added }),
            skipped.length > 0 ? t('leads.suppressions.skipped', { list: skipped.slice(0, 5).join(', ') }) : '',
          ].join(' '),
          color: skipped.length > 0 ? 'yellow' : 'teal',
          autoClose: skipped.length > 0 ? 10_000 : 4_000,
        });
        setPasted('');
        dialog.close();
      },
    },
  );
  return (
    <>
      <Button leftSection={<IconPlus size={16} />} aria-haspopup="dialog" onClick={dialog.open}>
        {t('leads.suppressions.add')}
      </Button>
      <Modal opened={isOpen} onClose={dialog.close} title={t('leads.suppressions.add')}>
        <Form act={add} submit={t('leads.suppressions.do', { count: values.length })}>
          <Textarea
            label={t('leads.suppressions.paste')}
            description={t('leads.suppressions.paste.why')}
            autosize
            minRows={4}
            maxRows={12}
            required
            data-autofocus
            value={pasted}
            onChange={(event) => setPasted(event.currentTarget.value)}
          />
          <TextInput
            label={t('leads.suppressions.reason')}
            maxLength={500}
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
          {values.length > 5000 ? (
            <Text size="sm" c="red">
              {t('leads.suppressions.many')}
            </Text>
          ) : null}
        </Form>
      </Modal>
    </>
  );
}
