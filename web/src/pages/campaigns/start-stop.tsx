import { Button, Checkbox, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import IconPause from 'tabler:player-pause';
import IconPlay from 'tabler:player-play';
import { useQuery } from '@tanstack/react-query';
import { useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import type { Key } from '../../app/query-keys.ts';
import { useAction } from '../../components/action.ts';
import { Answered, ErrorNote, ListSkeleton } from '../../components/states.tsx';
import { useText } from '../../text/index.ts';
import type { Campaign } from './flow.ts';
import { Problems } from './problems.tsx';

const Launch = lazy(() => import('./launch.tsx'));

/** Code of the only error that the person may override when they start the campaign. */
const RISK = 'list_bounce_risk';

/** Button that starts a campaign, after showing blockers and effects, or pauses a running one. */
export function StartStop({ campaign }: { campaign: Campaign }) {
  const t = useText();
  const { id, status } = campaign;
  const [isOpen, confirm] = useDisclosure();
  const [acknowledged, acknowledge] = useState(false);
  const address = useRouterState({ select: ({ location }) => location.href });
  // Closes the dialog when the person follows a link in a finding.
  useEffect(confirm.close, [address, confirm.close]);
  const path = { params: { path: { id } } };
  const stale: readonly Key[] = [['campaigns'], ['flow', id], ['checklist']];
  const start = useAction(
    () => dataOf(heron.POST('/v1/campaigns/{id}/start', { ...path, body: { acknowledge_list_risk: acknowledged } })),
    { stale, done: t('campaign.started'), isShown: true, onDone: confirm.close },
  );
  const stop = useAction(() => dataOf(heron.POST('/v1/campaigns/{id}/stop', path)), {
    stale,
    done: t('campaign.stopped'),
  });
  const check = useQuery({
    queryKey: ['campaigns', id, 'check'],
    enabled: isOpen,
    queryFn: () => dataOf(heron.POST('/v1/campaigns/{id}/validate', path)),
  });
  const launch = useQuery({
    queryKey: ['campaigns', id, 'launch'],
    enabled: isOpen,
    queryFn: () => dataOf(heron.GET('/v1/campaigns/{id}/launch', path)),
  });
  const errors = check.data?.problems.filter(({ severity }) => severity === 'error') ?? [];
  const isRisky = errors.some(({ code }) => code === RISK);
  // The person may override the bounce risk. With any other error, the API would refuse the start.
  const isBlocked = errors.some(({ code }) => code !== RISK);
  const isActive = status === 'active';
  return (
    <>
      {/* Uses one button for both actions, so that it keeps the focus when the campaign starts or stops. */}
      <Button
        {...(isActive
          ? { variant: 'default', leftSection: <IconPause size={16} />, onClick: () => stop.mutate() }
          : { leftSection: <IconPlay size={16} />, 'aria-haspopup': 'dialog' as const, onClick: confirm.open })}
        loading={stop.isPending}
      >
        {t(isActive ? 'campaign.stop' : 'campaign.start')}
      </Button>
      <Modal opened={isOpen} onClose={confirm.close} title={t('campaign.start.ask')} size="lg">
        <Stack>
          <Answered query={launch} skeleton={<ListSkeleton rows={3} height={32} />}>
            {(data) => (
              <Suspense fallback={<ListSkeleton rows={3} height={32} />}>
                <Launch launch={data} zone={campaign.timezone} />
              </Suspense>
            )}
          </Answered>
          <Answered query={check} skeleton={<ListSkeleton rows={1} height={32} />}>
            {({ problems }) => (problems.length > 0 ? <Problems id={id} problems={problems} /> : null)}
          </Answered>
          <Text size="sm" c="dimmed">
            {t('campaign.start.why')}
          </Text>
          <ErrorNote error={start.error} />
          {isRisky ? (
            <Checkbox
              label={t('campaign.start.risk')}
              checked={acknowledged}
              onChange={(event) => acknowledge(event.currentTarget.checked)}
            />
          ) : null}
          <Group justify="flex-end">
            <Button
              onClick={() => start.mutate()}
              loading={start.isPending}
              // The button is disabled already during the check, because a button that is disabled later would lose the
              // focus.
              disabled={check.isPending || isBlocked || (isRisky && !acknowledged)}
            >
              {t('campaign.start.do')}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
