import { Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { Section } from '../../components/section.tsx';
import { ErrorNote } from '../../components/states.tsx';
import { toNumber, useText } from '../../text/index.ts';

type Allowance = RowOf<'/v1/lead-allowances'>;

/**
 * Number of leads that credentials may add to campaigns each day beyond their policies. Shows nothing if there are
 * none.
 */
export function Allowances() {
  const t = useText();
  const { data, error } = useQuery({
    queryKey: ['policies', 'allowances'],
    queryFn: () => dataOf(heron.GET('/v1/lead-allowances', { params: { query: { limit: 200 } } })),
  });
  if (error) return <ErrorNote error={error} />;
  if (!data?.data.length) return null;
  return (
    <Section title={t('agents.allowances')}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {t('agents.allowances.why')}
        </Text>
        {data.data.map((one) => (
          <AllowanceRow key={one.id} allowance={one} />
        ))}
      </Stack>
    </Section>
  );
}

function AllowanceRow({ allowance }: { allowance: Allowance }) {
  const t = useText();
  const revoke = useAction(
    () => dataOf(heron.DELETE('/v1/lead-allowances/{id}', { params: { path: { id: allowance.id } } })),
    { stale: [['policies', 'allowances']], isShown: true },
  );
  return (
    <Group justify="space-between" gap="xs">
      <Text size="sm" className="wrap-anywhere" flex="1 1 16rem">
        {t('agents.allowance', {
          name: allowance.credential_name,
          campaign: allowance.campaign_name,
          most: toNumber(allowance.leads_per_day),
          used: toNumber(allowance.used_today),
        })}
      </Text>
      <ConfirmButton size="xs" act={revoke} label={t('agents.key.revoke')} title={t('agents.allowance.revoke.ask')}>
        {t('agents.allowance.revoke.why')}
      </ConfirmButton>
    </Group>
  );
}
