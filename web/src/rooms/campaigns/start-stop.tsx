import { Button, Checkbox, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import IconPause from '@tabler/icons-react/dist/esm/icons/IconPlayerPause.mjs';
import IconPlay from '@tabler/icons-react/dist/esm/icons/IconPlayerPlay.mjs';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron, HeronError } from '../../app/api.ts';
import { useAct } from '../../parts/act.ts';
import { Answered, ErrorNote, ListSkeleton } from '../../parts/states.tsx';
import { useText } from '../../text/index.ts';
import { Problems } from './check.tsx';

/** Starts a campaign, after saying what keeps it from starting and what it will do; pauses one that runs. */
export function StartStop({ id, status }: { id: string; status: string }) {
  const t = useText();
  const [isOpen, confirm] = useDisclosure();
  const [acknowledged, acknowledge] = useState(false);
  const path = { params: { path: { id } } };
  const stale = [['campaigns'], ['campaign-flow', id], ['checklist']];
  const start = useAct(
    () => dataOf(heron.POST('/v1/campaigns/{id}/start', { ...path, body: { acknowledge_list_risk: acknowledged } })),
    { stale, done: t('campaign.started'), isShown: true, onDone: confirm.close },
  );
  const stop = useAct(() => dataOf(heron.POST('/v1/campaigns/{id}/stop', path)), {
    stale,
    done: t('campaign.stopped'),
  });
  const isRisky = start.error instanceof HeronError && start.error.code === 'list_bounce_risk';
  if (status === 'active')
    return (
      <Button
        variant="default"
        leftSection={<IconPause size={16} />}
        onClick={() => stop.mutate()}
        loading={stop.isPending}
      >
        {t('campaign.stop')}
      </Button>
    );
  return (
    <>
      <Button leftSection={<IconPlay size={16} />} onClick={confirm.open}>
        {t('campaign.start')}
      </Button>
      <Modal opened={isOpen} onClose={confirm.close} title={t('campaign.start.ask')}>
        <Stack>
          <Text size="sm">{t('campaign.start.why')}</Text>
          {isOpen ? <BeforeStart id={id} /> : null}
          <ErrorNote error={start.error} />
          {isRisky || acknowledged ? (
            <Checkbox
              label={t('campaign.start.risk')}
              checked={acknowledged}
              onChange={(event) => acknowledge(event.currentTarget.checked)}
            />
          ) : null}
          <Group justify="flex-end">
            <Button onClick={() => start.mutate()} loading={start.isPending} data-autofocus>
              {t('campaign.start.do')}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}

function BeforeStart({ id }: { id: string }) {
  const check = useQuery({
    queryKey: ['campaigns', id, 'check'],
    queryFn: () => dataOf(heron.POST('/v1/campaigns/{id}/validate', { params: { path: { id } } })),
  });
  return (
    <Answered query={check} skeleton={<ListSkeleton rows={1} height={32} />}>
      {({ problems }) => (problems.length > 0 ? <Problems id={id} problems={problems} /> : null)}
    </Answered>
  );
}
