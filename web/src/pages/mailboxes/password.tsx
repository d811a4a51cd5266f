import { Button, PasswordInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { applyToNewest } from '../../components/draft.ts';
import { Form } from '../../components/form.tsx';
import { useText } from '../../text/index.ts';
import { RefusalNote } from './refusal.tsx';

type Mailbox = AnswerOf<'/v1/emails/{id}'>;

/**
 * Form for a new password of a mailbox. Heron signs in to both servers with the password before it is saved. Saving
 * also ends the hold.
 */
export function NewPassword({ mailbox }: { mailbox: Mailbox }) {
  const t = useText();
  const [isOpen, setOpen] = useState(mailbox.hold !== null);
  const [password, setPassword] = useState('');
  const path = { params: { path: { id: mailbox.id } } };
  const save = useAction(
    () =>
      applyToNewest(
        mailbox,
        ({ smtp, imap, updated_at: expected_updated_at }) =>
          dataOf(
            heron.PATCH('/v1/emails/{id}', {
              ...path,
              body: {
                smtp: { ...smtp, password },
                ...(imap ? { imap: { ...imap, password } } : {}),
                expected_updated_at,
              },
            }),
          ),
        () => dataOf(heron.GET('/v1/emails/{id}', path)),
      ),
    {
      stale: [['mailboxes'], ['checklist']],
      isShown: true,
      done: t('mailbox.password.done'),
      onDone: () => {
        setOpen(false);
        setPassword('');
      },
    },
  );
  if (!isOpen)
    return (
      <Button size="xs" variant="default" onClick={() => setOpen(true)}>
        {t('mailbox.password.change')}
      </Button>
    );
  return (
    <Stack gap="xs" w="100%">
      <Text size="sm" c="dimmed">
        {t('mailbox.password.why')}
      </Text>
      <Form act={save} submit={t('mailbox.password.submit')} note={<RefusalNote error={save.error} />}>
        <PasswordInput
          label={t('mailbox.password.new')}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          autoComplete="new-password"
          required
          maw={360}
        />
      </Form>
    </Stack>
  );
}
