import { ActionIcon, Button, Group, Table } from '@mantine/core';
import IconDown from 'tabler:arrow-down';
import IconPlus from 'tabler:plus';
import IconTemplate from 'tabler:template';
import IconUp from 'tabler:arrow-up';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import type { Key } from '../../app/query-keys.ts';
import { useCan } from '../../app/person.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { offProps } from '../../components/focus.ts';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { TableFrame } from '../../components/table-frame.tsx';
import { Ago } from '../../components/time.tsx';
import { useText } from '../../text/index.ts';
import { SettingsPage } from './frame.tsx';
import { TemplateForm } from './template-form.tsx';

type Template = AnswerOf<'/v1/templates'>['data'][number];
const stale: readonly Key[] = [['templates'], ['inbox', 'templates']];

/** Page of the reply templates in their order, which is the order in which the inbox offers them. */
export default function TemplatesPage() {
  const t = useText();
  const mayEdit = useCan('manage_campaigns');
  const [edited, setEdited] = useState<string>();
  const templates = useQuery({
    queryKey: ['templates', 'list'],
    queryFn: () => dataOf(heron.GET('/v1/templates')),
  });
  const add = (
    <Button leftSection={<IconPlus size={16} />} aria-haspopup="dialog" onClick={() => setEdited('new')}>
      {t('settings.template.new')}
    </Button>
  );
  return (
    <SettingsPage actions={mayEdit && templates.data?.data.length ? add : null}>
      <Answered query={templates} skeleton={<ListSkeleton />}>
        {({ data }) => (
          <>
            {data.length === 0 ? (
              <Empty icon={IconTemplate} title={t('settings.template.none')} action={mayEdit ? add : null}>
                {t('settings.template.none.why')}
              </Empty>
            ) : (
              <TableFrame
                columns={[
                  { label: t('settings.name') },
                  { label: t('settings.template.subject'), isExtra: true },
                  { label: t('settings.changed'), isExtra: true },
                  { label: t('settings.edit'), isHidden: true },
                ]}
                minWidth={640}
                isEmpty={false}
                empty={undefined}
              >
                {data.map((one, at) => (
                  <TemplateRow key={one.id} one={one} at={at} all={data} mayEdit={mayEdit} onEdit={setEdited} />
                ))}
              </TableFrame>
            )}
            {edited ? (
              <Dialog
                onClose={() => setEdited(undefined)}
                title={t(edited === 'new' ? 'settings.template.new' : 'settings.template.edit')}
                size="lg"
              >
                <TemplateForm template={data.find(({ id }) => id === edited)} onDone={() => setEdited(undefined)} />
              </Dialog>
            ) : null}
          </>
        )}
      </Answered>
    </SettingsPage>
  );
}

function TemplateRow({
  one: { id, name, subject, updated_at: changed },
  at,
  all,
  mayEdit,
  onEdit,
}: {
  one: Template;
  /** Position in the list, from 0. */
  at: number;
  all: readonly Template[];
  mayEdit: boolean;
  onEdit: (id: string) => void;
}) {
  const t = useText();
  const path = { params: { path: { id } } };
  const copy = useAction(() => dataOf(heron.POST('/v1/templates/{id}/duplicate', path)), {
    stale,
    done: t('settings.template.copied'),
  });
  const remove = useAction(() => dataOf(heron.DELETE('/v1/templates/{id}', path)), {
    stale,
    isShown: true,
    done: t('settings.template.deleted'),
  });
  const swap = useAction(
    (other: number) =>
      dataOf(
        heron.PATCH('/v1/templates/reorder', {
          body: { ids: other < at ? [id, all[other]!.id] : [all[other]!.id, id] },
        }),
      ),
    { stale },
  );
  return (
    <Table.Tr>
      <Table.Td maw={{ base: 160, sm: 260 }} className="clip" title={name}>
        {name}
      </Table.Td>
      <Table.Td maw={300} className="clip" title={subject}>
        {subject}
      </Table.Td>
      <Table.Td c="dimmed">
        <Ago at={changed} />
      </Table.Td>
      <Table.Td>
        {mayEdit ? (
          <Group gap={4} justify="flex-end" miw={{ base: 0, sm: 'max-content' }}>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t('settings.label.up', { name })}
              {...offProps(at === 0, () => swap.mutate(at - 1))}
            >
              <IconUp size={16} />
            </ActionIcon>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t('settings.label.down', { name })}
              {...offProps(at === all.length - 1, () => swap.mutate(at + 1))}
            >
              <IconDown size={16} />
            </ActionIcon>
            <Button
              size="compact-xs"
              variant="default"
              aria-haspopup="dialog"
              aria-label={t('settings.edit.of', { name })}
              onClick={() => onEdit(id)}
            >
              {t('settings.edit')}
            </Button>
            <Button
              size="compact-xs"
              variant="default"
              aria-label={t('settings.template.copy.of', { name })}
              onClick={() => copy.mutate()}
              loading={copy.isPending}
            >
              {t('settings.template.copy')}
            </Button>
            <ConfirmButton
              size="compact-xs"
              act={remove}
              label={t('settings.delete')}
              title={t('settings.template.delete.ask')}
            >
              {t('settings.template.delete.why', { name })}
            </ConfirmButton>
          </Group>
        ) : null}
      </Table.Td>
    </Table.Tr>
  );
}
