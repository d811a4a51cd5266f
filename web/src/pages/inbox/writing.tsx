import { ActionIcon, Button, FileButton, Group, Menu, Pill, Textarea, Tooltip } from '@mantine/core';
import IconClock from 'tabler:clock';
import IconFile from 'tabler:paperclip';
import IconTemplate from 'tabler:template';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode, type Ref } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { ErrorNote } from '../../components/states.tsx';
import { ConcurrentChanges } from '../../components/concurrent-changes.tsx';
import { toDateTime } from '../../components/time.tsx';
import { notifications } from '@mantine/notifications';
import { useText } from '../../text/index.ts';
import { refresh } from './actions.ts';
import { toAttachment, type useDraft } from './draft.ts';
import { WhenMenu } from './when.tsx';

/** Editor of an email's text, with templates, files, and buttons to send, schedule and discard it. */
export function Writing({
  draft,
  variables,
  label,
  onDone,
  field,
  children,
}: {
  draft: ReturnType<typeof useDraft>;
  /** Values for the placeholders of templates. */
  variables: Record<string, string>;
  label: string;
  /** Called after sending or discarding. */
  onDone: () => void;
  field?: Ref<HTMLTextAreaElement>;
  children?: ReactNode;
}) {
  const t = useText();
  const [files, setFiles] = useState<File[]>([]);
  const [isChoosing, setChoosing] = useState(false);
  const send = useAction(
    async (at: Date | undefined) => {
      const id = await draft.keep();
      return dataOf(
        heron.POST('/v1/unibox/drafts/{id}/send', {
          params: { path: { id: id! } },
          body: {
            ...(at ? { send_mode: 'scheduled' as const, scheduled_at: at.toISOString() } : {}),
            ...(files.length > 0 ? { attachments: await Promise.all(files.map(toAttachment)) } : {}),
          },
        }),
      );
    },
    {
      isShown: true,
      onDone: ({ result, scheduled_at: at }, asked) => {
        draft.forget();
        notifications.show({
          color: 'teal',
          message:
            result === 'awaiting_approval'
              ? t('inbox.sent.approval')
              : asked
                ? t('inbox.sent.scheduled', { at: toDateTime(at) })
                : t('inbox.sent.now'),
        });
        onDone();
        void refresh();
      },
    },
  );
  const discard = useAction(() => draft.discard(), { stale: [['inbox', 'drafts']], onDone });
  const isEmpty = draft.written.body_plain.trim() === '';
  return (
    <form
      className="inbox-writing"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isEmpty && !send.isPending) send.mutate(undefined);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          event.currentTarget.requestSubmit();
        }
      }}
    >
      {children}
      <Textarea
        ref={field}
        aria-label={label}
        autosize
        minRows={4}
        maxRows={16}
        placeholder={t('inbox.write')}
        value={draft.written.body_plain}
        onChange={(event) => draft.write({ body_plain: event.currentTarget.value })}
      />
      {files.length > 0 ? (
        <Pill.Group>
          {files.map((file) => (
            <Pill
              key={file.name}
              withRemoveButton
              removeButtonProps={{ 'aria-label': t('inbox.file.remove', { name: file.name }) }}
              onRemove={() => setFiles(files.filter((one) => one !== file))}
            >
              {file.name}
            </Pill>
          ))}
        </Pill.Group>
      ) : null}
      <ConcurrentChanges
        draft={draft}
        names={{
          email_account_id: t('inbox.compose.from'),
          to: t('inbox.compose.to'),
          cc: t('inbox.compose.cc'),
          bcc: t('inbox.compose.bcc'),
          subject: t('inbox.compose.subject'),
          body_plain: t('inbox.words'),
        }}
      />
      <ErrorNote error={draft.theirs ? null : send.error} />
      <Group justify="space-between" gap="xs">
        <Group gap={4}>
          <Button type="submit" size="xs" loading={send.isPending} disabled={isEmpty}>
            {t('inbox.send')}
          </Button>
          <WhenMenu
            label={t('inbox.schedule')}
            isOpen={isChoosing}
            onOpen={setChoosing}
            onChoose={(at) => send.mutate(at)}
          >
            <Tooltip label={t('inbox.schedule')}>
              <ActionIcon
                variant="default"
                size={30}
                aria-label={t('inbox.schedule')}
                disabled={isEmpty || send.isPending}
              >
                <IconClock size={16} />
              </ActionIcon>
            </Tooltip>
          </WhenMenu>
          <Templates
            variables={variables}
            onChoose={(words) =>
              draft.write({ body_plain: [draft.written.body_plain.trimEnd(), words].filter(Boolean).join('\n\n') })
            }
          />
          <FileButton onChange={(chosen) => setFiles([...files, ...chosen])} multiple>
            {(button) => (
              <Tooltip label={t('inbox.file.add')}>
                <ActionIcon variant="subtle" size={30} aria-label={t('inbox.file.add')} {...button}>
                  <IconFile size={16} />
                </ActionIcon>
              </Tooltip>
            )}
          </FileButton>
        </Group>
        <Button size="xs" variant="subtle" color="gray" onClick={() => discard.mutate()} loading={discard.isPending}>
          {t('inbox.discard')}
        </Button>
      </Group>
    </form>
  );
}

function Templates({ variables, onChoose }: { variables: Record<string, string>; onChoose: (words: string) => void }) {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  const templates = useQuery({
    queryKey: ['inbox', 'templates'],
    enabled: isOpen,
    queryFn: () => dataOf(heron.GET('/v1/templates')),
  });
  const fill = useAction(
    (id: string) => dataOf(heron.POST('/v1/templates/{id}/render', { params: { path: { id } }, body: { variables } })),
    { onDone: ({ body_plain: words }) => onChoose(words) },
  );
  const rows = templates.data?.data ?? [];
  return (
    <Menu opened={isOpen} onChange={setOpen} position="bottom-start" width={260} withinPortal>
      <Menu.Target>
        <Tooltip label={t('inbox.template')}>
          <ActionIcon variant="subtle" size={30} aria-label={t('inbox.template')} loading={fill.isPending}>
            <IconTemplate size={16} />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        {rows.map(({ id, name }) => (
          <Menu.Item key={id} onClick={() => fill.mutate(id)}>
            <span className="clip">{name}</span>
          </Menu.Item>
        ))}
        {rows.length === 0 ? (
          <Menu.Label>{templates.isPending ? t('loading') : t('inbox.template.none')}</Menu.Label>
        ) : null}
      </Menu.Dropdown>
    </Menu>
  );
}
