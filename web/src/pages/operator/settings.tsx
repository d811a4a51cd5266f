import { Anchor, Badge, Group, SimpleGrid, Stack, Switch, Table, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { Facts } from '../../components/facts.tsx';
import { useFilter } from '../../components/filter.ts';
import { Section } from '../../components/section.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { textOf, toNumber, useText } from '../../text/index.ts';
import { OperatorPage } from './frame.tsx';

/** Page of the settings and limits in force, with the source of each and links to further pages. */
export default function SettingsPage() {
  const t = useText();
  const [q, setQ] = useFilter('q');
  const [all, setAll] = useFilter('all');
  const config = useQuery({
    queryKey: ['operator', 'config'],
    queryFn: () => dataOf(heron.GET('/v1/admin/instance/config')),
  });
  return (
    <OperatorPage>
      <Answered query={config} skeleton={<ListSkeleton rows={8} />}>
        {({ settings }) => {
          const temporal = settings.find(({ key }) => key === 'TEMPORAL_UI_URL')?.value;
          const shown = settings.filter(
            ({ key, source }) =>
              key.toLowerCase().includes(q.trim().toLowerCase()) &&
              (all || q || !['default', 'unset'].includes(source)),
          );
          return (
            <>
              <Section title={t('operator.elsewhere')}>
                <Facts
                  rows={[
                    [
                      t('operator.temporal'),
                      typeof temporal === 'string' ? (
                        <Anchor href={temporal} size="sm" target="_blank" rel="noreferrer">
                          {temporal}
                        </Anchor>
                      ) : (
                        t('operator.temporal.unset')
                      ),
                    ],
                    [t('operator.metrics'), t('operator.metrics.where')],
                  ]}
                />
              </Section>
              <Group gap="md">
                <TextInput
                  value={q}
                  onChange={(event) => setQ(event.currentTarget.value)}
                  placeholder={t('operator.settings.search')}
                  aria-label={t('operator.settings.search')}
                  w={260}
                />
                <Switch
                  label={t('operator.settings.all')}
                  checked={all !== ''}
                  onChange={(event) => setAll(event.currentTarget.checked ? '1' : '')}
                />
              </Group>
              <Section title={t('operator.settings')}>
                <Table.ScrollContainer minWidth={620} className="drops">
                  <Table className="drop-3">
                    <Table.Thead>
                      <Table.Tr>
                        <Table.Th>{t('operator.setting')}</Table.Th>
                        <Table.Th>{t('operator.value')}</Table.Th>
                        <Table.Th>{t('operator.source')}</Table.Th>
                      </Table.Tr>
                    </Table.Thead>
                    <Table.Tbody>
                      {shown.map(({ key, value, source, sensitive }) => (
                        <Table.Tr key={key}>
                          <Table.Td>
                            <Text size="sm" ff="monospace" className="wrap-anywhere">
                              {key}
                            </Text>
                          </Table.Td>
                          <Table.Td maw={360} className="wrap-anywhere">
                            <Text span inherit ff="monospace">
                              {toWords(value)}
                            </Text>{' '}
                            {sensitive && value ? (
                              <Badge variant="light" color="gray" tt="none" size="sm">
                                {t('operator.fingerprint')}
                              </Badge>
                            ) : null}
                          </Table.Td>
                          <Table.Td c="dimmed">{t(`operator.source.${source}`)}</Table.Td>
                        </Table.Tr>
                      ))}
                    </Table.Tbody>
                  </Table>
                </Table.ScrollContainer>
                {shown.length === 0 ? (
                  <Text size="sm" c="dimmed">
                    {t('nothingFound')}
                  </Text>
                ) : null}
                <Text size="sm" c="dimmed" mt="sm">
                  {t('operator.settings.restart')}
                </Text>
              </Section>
              <Limits />
            </>
          );
        }}
      </Answered>
    </OperatorPage>
  );
}

function Limits() {
  const t = useText();
  const limits = useQuery({
    queryKey: ['operator', 'limits'],
    queryFn: () => dataOf(heron.GET('/v1/admin/instance/limits')),
  });
  return (
    <Section title={t('operator.limits')}>
      <Answered query={limits} skeleton={<ListSkeleton rows={4} height={24} />}>
        {(data) => (
          <SimpleGrid cols={{ base: 1, md: 3 }} spacing="xl">
            {(['sending', 'warmup', 'rates'] as const).map((group) => (
              <Stack key={group} gap="xs">
                <Text fw={600} size="sm">
                  {t(`operator.limits.${group}`)}
                </Text>
                {Object.entries(data[group]).map(([name, amount]) => (
                  <Group key={name} justify="space-between" wrap="nowrap" gap="sm" align="flex-start">
                    <Text size="sm" c="dimmed">
                      {textOf('operator.limit', name)}
                    </Text>
                    <Text size="sm" className="figures" ta="right" style={{ whiteSpace: 'nowrap' }}>
                      {amount === null ? t('operator.unlimited') : toAmount(name, amount)}
                    </Text>
                  </Group>
                ))}
              </Stack>
            ))}
          </SimpleGrid>
        )}
      </Answered>
    </Section>
  );
}

/** Formats a setting's value: text unchanged, any other value as JSON. */
function toWords(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Formats a limit with its unit: times in seconds or minutes, sizes in megabytes, shares in percent. */
function toAmount(name: string, amount: number): string {
  if (name.endsWith('_ms')) {
    const [unit, ms] = amount >= 120_000 ? (['minute', 60_000] as const) : (['second', 1000] as const);
    return toNumber(amount / ms, { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 1 });
  }
  if (name.endsWith('_bytes'))
    return toNumber(amount / 1024 ** 2, { style: 'unit', unit: 'megabyte', maximumFractionDigits: 1 });
  if (name.startsWith('share_')) return toNumber(amount, { style: 'percent' });
  return toNumber(amount);
}
