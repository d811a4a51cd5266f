import { Button, Group, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { Form } from '../../components/form.tsx';
import { More, usePaged } from '../../components/paged.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { useText } from '../../text/index.ts';

type Note = RowOf<'/v1/contacts/{id}/notes'>;

/** Maximum length of a note, as in the API. */
const MAX_LENGTH = 10_000;

/** Notes of the team about a contact, newest first. */
export function Notes({ id, mayWrite }: { id: string; mayWrite: boolean }) {
  const t = useText();
  const [content, setContent] = useState('');
  const notes = usePaged(['contacts', id, 'notes'], (cursor, signal) =>
    dataOf(heron.GET('/v1/contacts/{id}/notes', { params: { path: { id }, query: { limit: 20, ...cursor } }, signal })),
  );
  const add = useAction(
    () => dataOf(heron.POST('/v1/contacts/{id}/notes', { params: { path: { id } }, body: { content } })),
    { stale: [['contacts', id]], isShown: true, onDone: () => setContent('') },
  );
  return (
    <Section title={t('leads.notes')}>
      <Stack gap="md">
        {mayWrite ? (
          <Form act={add} submit={t('leads.note.add')}>
            <Textarea
              label={t('leads.note.new')}
              description={t('leads.note.why')}
              required
              autosize
              minRows={2}
              maxLength={MAX_LENGTH}
              value={content}
              onChange={(event) => setContent(event.currentTarget.value)}
            />
          </Form>
        ) : null}
        <Answered query={notes} skeleton={<ListSkeleton rows={1} height={40} />}>
          {({ pages }) => {
            const rows = pages.flatMap(({ data }) => data);
            return rows.length === 0 ? (
              <Text size="sm" c="dimmed">
                {t('leads.notes.none')}
              </Text>
            ) : (
              <>
                {rows.map((note) => (
                  <NoteItem key={note.id} note={note} mayWrite={mayWrite} />
                ))}
                <More list={notes} />
              </>
            );
          }}
        </Answered>
      </Stack>
    </Section>
  );
}

function NoteItem({
  note: { id, contact_id: contactId, content, user, created_at: at, updated_at: changedAt },
  mayWrite,
}: {
  note: Note;
  mayWrite: boolean;
}) {
  const t = useText();
  const [draft, setDraft] = useState<string | null>(null);
  const params = { params: { path: { id: contactId, noteId: id } } };
  const stale = [['contacts', contactId]] as const;
  const change = useAction(
    () => dataOf(heron.PATCH('/v1/contacts/{id}/notes/{noteId}', { ...params, body: { content: draft ?? '' } })),
    { stale, done: t('saved'), isShown: true, onDone: () => setDraft(null) },
  );
  const remove = useAction(() => dataOf(heron.DELETE('/v1/contacts/{id}/notes/{noteId}', params)), {
    stale,
    done: t('leads.note.deleted'),
    isShown: true,
  });
  const author = user?.name || t('leads.note.somebody');
  return (
    <Stack gap={4} component="article" aria-label={t('leads.note.of', { name: author })}>
      <Group gap="xs" justify="space-between">
        <Text size="sm" c="dimmed">
          {author} · <Ago at={at} />
          {changedAt === at ? '' : ` · ${t('leads.note.changed')}`}
        </Text>
        {mayWrite && draft === null ? (
          <Group gap={4}>
            <Button size="compact-xs" variant="subtle" onClick={() => setDraft(content)}>
              {t('leads.note.change')}
            </Button>
            <ConfirmButton
              label={t('leads.note.delete')}
              title={t('leads.note.delete.ask')}
              act={remove}
              size="compact-xs"
              variant="subtle"
            >
              {t('leads.note.delete.why')}
            </ConfirmButton>
          </Group>
        ) : null}
      </Group>
      {draft === null ? (
        <Text size="sm" className="wrap-anywhere" style={{ whiteSpace: 'pre-wrap' }}>
          {content}
        </Text>
      ) : (
        <Form act={change} submit={t('save')}>
          <Textarea
            aria-label={t('leads.note.content')}
            required
            autosize
            autoFocus
            minRows={2}
            maxLength={MAX_LENGTH}
            value={draft}
            onChange={(event) => setDraft(event.currentTarget.value)}
          />
        </Form>
      )}
    </Stack>
  );
}
