import { Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { dataOf, heron, HeronError } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Form } from '../../components/form.tsx';
import { useText } from '../../text/index.ts';

type Made = 'keep' | 'revoke';

/**
 * Dialog that removes a member. If the member created keys, applications or connections, the API lists these, and the
 * dialog offers to keep or revoke them.
 */
export default function RemoveMember({
  member,
  onClose,
}: {
  member: { id: string; name: string };
  onClose: () => void;
}) {
  const t = useText();
  const [isAsked, setAsked] = useState(false);
  const [made, setMade] = useState<Made>('revoke');
  const remove = useAction(
    () =>
      dataOf(
        heron.DELETE('/v1/organizations/current/members/{userId}', {
          params: { path: { userId: member.id }, query: isAsked ? { made } : {} },
        }),
      ).catch((error: unknown) => {
        if (isAboutMade(error)) setAsked(true);
        throw error;
      }),
    { stale: [['team']], done: t('team.removed', { name: member.name }), isShown: true, onDone: onClose },
  );
  return (
    <Dialog onClose={onClose} title={t('team.remove.ask', { name: member.name })}>
      <Form act={remove} submit={t('team.remove')}>
        <Text size="sm">{t('team.remove.why')}</Text>
        {isAsked ? (
          <Radio.Group label={t('team.made')} value={made} onChange={(value) => setMade(value as Made)}>
            <Stack gap="xs" mt="xs">
              <Radio value="revoke" label={t('team.made.revoke')} description={t('team.made.revoke.why')} />
              <Radio value="keep" label={t('team.made.keep')} description={t('team.made.keep.why')} />
            </Stack>
          </Radio.Group>
        ) : null}
      </Form>
    </Dialog>
  );
}

/** Returns true for the conflict that lists objects created by the member. */
function isAboutMade(error: unknown): boolean {
  return error instanceof HeronError && error.status === 409 && error.problems.length > 0;
}
