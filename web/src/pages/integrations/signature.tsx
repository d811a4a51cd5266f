import { Button, Group, Stack, Text } from '@mantine/core';
import { dataOf, heron } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { CopyBox } from '../../components/copy.tsx';
import { Facts } from '../../components/facts.tsx';
import { Section } from '../../components/section.tsx';
import { ErrorNote } from '../../components/states.tsx';
import { useText } from '../../text/index.ts';

/** Shows the secret that signs Heron's requests to a connection, when the person clicks a button. */
export function Signature({ id }: { id: string }) {
  const t = useText();
  const read = useAction(
    () => dataOf(heron.GET('/v1/integrations/connections/{id}/webhook-secret', { params: { path: { id } } })),
    { isShown: true },
  );
  return (
    <Section title={t('integrations.signature')}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {t('integrations.signature.why')}
        </Text>
        {read.data ? (
          <>
            <CopyBox label={t('integrations.signature.secret')} value={read.data.signing_secret} />
            <Facts
              rows={[
                [t('integrations.signature.header'), read.data.signature_header],
                [t('integrations.signature.scheme'), read.data.scheme],
              ]}
            />
          </>
        ) : (
          <Group>
            <Button size="xs" variant="default" onClick={() => read.mutate()} loading={read.isPending}>
              {t('integrations.signature.show')}
            </Button>
          </Group>
        )}
        <ErrorNote error={read.error} />
      </Stack>
    </Section>
  );
}
