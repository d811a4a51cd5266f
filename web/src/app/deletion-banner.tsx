import { Alert, Button, Group, Text } from '@mantine/core';
import IconTrash from 'tabler:trash';
import { useAction } from '../components/action.ts';
import { toDateTime } from '../components/time.tsx';
import { useText } from '../text/index.ts';
import { dataOf, heron } from './api.ts';
import { usePerson } from './person.ts';

/**
 * Banners about the scheduled deletions of the selected workspace and of the person's account. Each has a button that
 * cancels the deletion.
 */
export default function DeletionBanner() {
  const t = useText();
  const { person, workspace } = usePerson();
  const stale = [['person'], ['team'], ['keys']] as const;
  const keepWorkspace = useAction(() => dataOf(heron.POST('/v1/organizations/current/restore')), {
    stale,
    done: t('deletion.workspace.kept'),
  });
  const keepAccount = useAction(() => dataOf(heron.POST('/v1/auth/me/restore')), {
    stale,
    done: t('deletion.account.kept'),
  });
  const accountAt = person.deletion_scheduled_for;
  const workspaceAt = workspace?.deletion_scheduled_for ?? null;
  // If the workspace is deleted together with the account, cancelling the account's deletion also keeps the workspace.
  const mayKeep = workspace?.role.is_owner === true && workspaceAt !== accountAt;
  return (
    <>
      {accountAt ? (
        <Banner
          text={t('deletion.account.banner', { at: toDateTime(accountAt) })}
          keep={{ label: t('deletion.account.keep'), act: keepAccount }}
        />
      ) : null}
      {workspace && workspaceAt ? (
        <Banner
          text={t(mayKeep || accountAt ? 'deletion.workspace.banner' : 'deletion.workspace.banner.member', {
            name: workspace.name,
            at: toDateTime(workspaceAt),
          })}
          {...(mayKeep ? { keep: { label: t('deletion.workspace.keep'), act: keepWorkspace } } : {})}
        />
      ) : null}
    </>
  );
}

function Banner({
  text,
  keep,
}: {
  text: string;
  keep?: { label: string; act: { mutate: () => void; isPending: boolean } };
}) {
  return (
    <Alert color="red" variant="light" icon={<IconTrash size={18} />} mb="md" role="status">
      <Group justify="space-between" gap="sm">
        <Text size="sm" flex="1 1 20rem" className="wrap-anywhere">
          {text}
        </Text>
        {keep ? (
          <Button size="xs" variant="default" loading={keep.act.isPending} onClick={() => keep.act.mutate()}>
            {keep.label}
          </Button>
        ) : null}
      </Group>
    </Alert>
  );
}
