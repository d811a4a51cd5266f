import { Badge, Button, Group, Modal, Stack, Text } from '@mantine/core';
import IconPlus from 'tabler:plus';
import IconShield from 'tabler:shield-check';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, type RowOf } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { Section } from '../../components/section.tsx';
import { Answered, Empty, ListSkeleton } from '../../components/states.tsx';
import { useText } from '../../text/index.ts';
import { Allowances } from './allowances.tsx';
import { AgentsPage } from './frame.tsx';
import { Limits } from './limits.tsx';
import { nameOfHolder, PolicyForm, type Holder } from './policy-form.tsx';

type Policy = RowOf<'/v1/agent-policies'>;

/** Page of the policies of keys and applications. */
export default function PoliciesPage() {
  const t = useText();
  const [edited, setEdited] = useState<Policy | 'new'>();
  const policies = useQuery({
    queryKey: ['policies'],
    queryFn: async () => {
      const [list, holders] = await Promise.all([
        dataOf(heron.GET('/v1/agent-policies', { params: { query: { limit: 100 } } })),
        dataOf(heron.GET('/v1/agent-policies/holders')),
      ]);
      return { rows: list.data, holders: holders.data };
    },
  });
  const add = (
    <Button leftSection={<IconPlus size={16} />} aria-haspopup="dialog" onClick={() => setEdited('new')}>
      {t('agents.policy.new')}
    </Button>
  );
  return (
    <AgentsPage actions={policies.data?.rows.length ? add : null}>
      <Answered query={policies} skeleton={<ListSkeleton rows={2} height={150} />}>
        {({ rows, holders }) => (
          <>
            {rows.length === 0 ? (
              <Empty icon={IconShield} title={t('agents.policy.none')} action={add}>
                {t('agents.policy.none.why')}
              </Empty>
            ) : (
              <Stack>
                {rows.map((policy) => (
                  <PolicyCard
                    key={policy.id}
                    policy={policy}
                    holder={holders.find(({ policy_id: id }) => id === policy.id)}
                    onEdit={() => setEdited(policy)}
                  />
                ))}
              </Stack>
            )}
            <Modal
              opened={edited !== undefined}
              onClose={() => setEdited(undefined)}
              title={t(edited === 'new' ? 'agents.policy.new' : 'agents.policy.edit')}
              size="lg"
            >
              {edited ? (
                <PolicyForm
                  policy={edited === 'new' ? undefined : edited}
                  holders={holders}
                  onDone={() => setEdited(undefined)}
                />
              ) : null}
            </Modal>
          </>
        )}
      </Answered>
      <Allowances />
    </AgentsPage>
  );
}

function PolicyCard({ policy, holder, onEdit }: { policy: Policy; holder: Holder | undefined; onEdit: () => void }) {
  const t = useText();
  const remove = useAction(
    () => dataOf(heron.DELETE('/v1/agent-policies/{id}', { params: { path: { id: policy.id } } })),
    { stale: [['policies']], isShown: true },
  );
  const isOver = Date.parse(policy.expires_at) < Date.now();
  return (
    <Section
      title={policy.name}
      action={
        <Group gap="xs">
          <Button size="xs" variant="default" aria-haspopup="dialog" onClick={onEdit}>
            {t('agents.edit')}
          </Button>
          <ConfirmButton size="xs" act={remove} label={t('agents.delete')} title={t('agents.policy.delete.ask')}>
            {t('agents.policy.delete.why')}
          </ConfirmButton>
        </Group>
      }
    >
      <Stack gap="sm">
        <Group gap="xs">
          <Badge variant="light" color={!policy.enabled ? 'gray' : isOver ? 'red' : 'teal'} tt="none">
            {t(!policy.enabled ? 'agents.policy.off' : isOver ? 'agents.policy.over' : 'agents.policy.on')}
          </Badge>
          <Text size="sm" c="dimmed" className="wrap-anywhere">
            {holder ? nameOfHolder(holder) : t('agents.policy.ofNobody')}
          </Text>
        </Group>
        <Limits policy={policy} explained />
      </Stack>
    </Section>
  );
}
