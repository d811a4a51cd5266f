import { Button, FileButton, Group, Stack, Text } from '@mantine/core';
import { dataOf, heron, type AnswerOf } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { Section } from '../../components/section.tsx';
import { ErrorNote } from '../../components/states.tsx';
import { toDataUrl, WorkspaceLogo } from '../../components/workspace-logo.tsx';
import { useText } from '../../text/index.ts';

/** Shows the logo of the workspace, with buttons to replace and to remove it. */
export function Logo({ workspace }: { workspace: AnswerOf<'/v1/organizations/current'> }) {
  const t = useText();
  const change = useAction(
    async (file: File | null) => {
      const logo = file && (await toDataUrl(file)).replace(/^.*?,/, '');
      await dataOf(heron.PATCH('/v1/organizations/current', { body: { logo } }));
    },
    { stale: [['person']], done: t('saved'), isShown: true },
  );
  return (
    <Section title={t('workspace.logo')}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {t('workspace.logo.why')}
        </Text>
        <ErrorNote error={change.error} />
        <Group>
          <WorkspaceLogo workspace={workspace} size={48} />
          <FileButton accept="image/png,image/jpeg,image/webp" onChange={(file) => file && change.mutate(file)}>
            {(props) => (
              <Button {...props} variant="default" loading={change.isPending}>
                {t('workspace.logo.choose')}
              </Button>
            )}
          </FileButton>
          {workspace.logo_id ? (
            <Button variant="subtle" color="red" disabled={change.isPending} onClick={() => change.mutate(null)}>
              {t('workspace.logo.remove')}
            </Button>
          ) : null}
        </Group>
      </Stack>
    </Section>
  );
}
