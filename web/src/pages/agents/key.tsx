import { Button, Group, Tabs } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { dataOf, heron } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { ConfirmButton } from '../../components/confirm.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { useFilter } from '../../components/filter.ts';
import { Page } from '../../components/page.tsx';
import { useGoTo } from '../../components/page-link.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { useText } from '../../text/index.ts';
import { KeyForm } from './key-form.tsx';
import { KeyOverview } from './key-overview.tsx';
import { KeyPolicy } from './key-policy.tsx';
import { KeyRequests } from './key-requests.tsx';
import { KeyState, type Key } from './key-state.tsx';
import { KeyUsage } from './key-usage.tsx';

const TABS = ['overview', 'policy', 'usage', 'requests'] as const;

/** Page of one API key: rights, lineage and policy, use over time, and its requests. */
export default function KeyPage() {
  const t = useText();
  const { id } = useParams({ from: '/agents/keys/$id' });
  const [tab, setTab] = useFilter('tab');
  const shown = TABS.find((one) => one === tab) ?? 'overview';
  const key = useQuery({
    queryKey: ['keys', id],
    queryFn: () => dataOf(heron.GET('/v1/api-keys/{id}', { params: { path: { id } } })),
  });
  return (
    <Page
      title={key.data?.name ?? t('agents.key')}
      lead={key.data ? <KeyState one={key.data} /> : null}
      back={{ to: '/agents/keys', label: t('agents.keys') }}
      actions={key.data ? <Actions one={key.data} /> : null}
    >
      <Answered query={key} skeleton={<ListSkeleton rows={3} height={110} />}>
        {(data) => (
          <Tabs
            value={shown}
            onChange={(value) => setTab(value === 'overview' ? '' : (value ?? ''))}
            keepMounted={false}
          >
            <Tabs.List mb="lg">
              {TABS.map((one) => (
                <Tabs.Tab key={one} value={one}>
                  {t(`agents.key.tab.${one}`)}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            <Tabs.Panel value="overview">
              <KeyOverview one={data} />
            </Tabs.Panel>
            <Tabs.Panel value="policy">
              <KeyPolicy one={data} />
            </Tabs.Panel>
            <Tabs.Panel value="usage">
              <KeyUsage id={id} />
            </Tabs.Panel>
            <Tabs.Panel value="requests">
              <KeyRequests id={id} />
            </Tabs.Panel>
          </Tabs>
        )}
      </Answered>
    </Page>
  );
}

/** Buttons that change, revoke and delete the key. Only a key that has ended can be deleted. */
function Actions({ one }: { one: Key }) {
  const t = useText();
  const go = useGoTo();
  const [isOpen, form] = useDisclosure();
  const path = { params: { path: { id: one.id } } };
  const stale = [['keys'], ['policies']] as const;
  const revoke = useAction(() => dataOf(heron.DELETE('/v1/api-keys/{id}', path)), {
    stale,
    isShown: true,
    done: t('agents.key.revoked'),
  });
  const remove = useAction(() => dataOf(heron.DELETE('/v1/api-keys/{id}/permanent', path)), {
    isShown: true,
    done: t('agents.key.deleted'),
    onDone: () => go('/agents/keys'),
  });
  const hasEnded = one.status === 'revoked' || (one.expires_at !== null && Date.parse(one.expires_at) < Date.now());
  return (
    <Group gap="xs">
      {one.status === 'active' ? (
        <>
          <Button variant="default" aria-haspopup="dialog" onClick={form.open}>
            {t('agents.edit')}
          </Button>
          <ConfirmButton act={revoke} label={t('agents.key.revoke')} title={t('agents.key.revoke.ask')}>
            {t('agents.key.revoke.why', { name: one.name })}
          </ConfirmButton>
        </>
      ) : null}
      {hasEnded ? (
        <ConfirmButton act={remove} label={t('agents.delete')} title={t('agents.key.delete.ask')}>
          {t('agents.key.delete.why')}
        </ConfirmButton>
      ) : null}
      {isOpen ? (
        <Dialog onClose={form.close} title={t('agents.key.edit')} size="lg">
          <KeyForm one={one} onDone={form.close} />
        </Dialog>
      ) : null}
    </Group>
  );
}
