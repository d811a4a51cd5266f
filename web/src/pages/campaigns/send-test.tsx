import { Button, Stack, Text } from '@mantine/core';
import IconMailForward from 'tabler:mail-forward';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Form } from '../../components/form.tsx';
import { useText } from '../../text/index.ts';
import type { Step } from './flow.ts';
import { testRunsQuery } from './queries.ts';
import { refetchWhileOpen, TestRun } from './test-runs.tsx';
import { targetOf, TestTargetFields, useTestTarget } from './test-lead.tsx';

/** Button that sends the current text of an email, saved or not, to the person's own address. */
export function SendTest({ campaignId, step }: { campaignId: string; step: Step }) {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconMailForward size={14} />}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
        style={{ alignSelf: 'flex-start' }}
      >
        {t('trial.step')}
      </Button>
      {isOpen ? <SendTestDialog campaignId={campaignId} step={step} close={() => setOpen(false)} /> : null}
    </>
  );
}

function SendTestDialog({ campaignId, step, close }: { campaignId: string; step: Step; close: () => void }) {
  const t = useText();
  const [target, change] = useTestTarget(campaignId);
  const { id, subject, body_plain, body_html } = step;
  const runs = useQuery({ ...testRunsQuery(campaignId), refetchInterval: refetchWhileOpen });
  const send = useAction(
    () =>
      dataOf(
        heron.POST('/v1/campaigns/{id}/test', {
          params: { path: { id: campaignId } },
          body: { ...targetOf(target), step: { id, subject, body_plain, body_html } },
        }),
      ),
    { stale: [testRunsQuery(campaignId).queryKey], isShown: true },
  );
  const run = runs.data?.data.find((one) => one.id === send.data?.id);
  return (
    <Dialog onClose={close} title={t('trial.step')}>
      <Stack>
        <Form act={send} submit={t('trial.step.do')}>
          <Text size="sm" c="dimmed">
            {t('trial.step.why')}
          </Text>
          <TestTargetFields campaignId={campaignId} target={target} change={change} />
        </Form>
        {run ? <TestRun campaignId={campaignId} run={run} mayCancel /> : null}
      </Stack>
    </Dialog>
  );
}
