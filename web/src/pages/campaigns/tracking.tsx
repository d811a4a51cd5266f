import { Badge, Button, Group, Stack, Switch, TextInput } from '@mantine/core';
import { dataOf, heron, queryClient } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { ErrorNote } from '../../components/states.tsx';
import { useText } from '../../text/index.ts';
import type { Campaign } from './flow.ts';

/** Editor of open and click tracking and of the tracking domain, which is used once its DNS records are verified. */
export function Tracking({
  stored,
  value,
  change,
  isReadOnly,
}: {
  stored: Campaign;
  value: Campaign;
  change: (changes: Partial<Campaign>) => void;
  isReadOnly: boolean;
}) {
  const t = useText();
  return (
    <Stack gap="md">
      <Switch
        label={t('campaign.schedule.openTracking')}
        checked={value.open_tracking}
        onChange={(event) => change({ open_tracking: event.currentTarget.checked })}
        disabled={isReadOnly}
      />
      <Switch
        label={t('campaign.schedule.linkTracking')}
        checked={value.link_tracking}
        onChange={(event) => change({ link_tracking: event.currentTarget.checked })}
        disabled={isReadOnly}
      />
      <TextInput
        label={t('campaign.tracking.domain')}
        description={t('campaign.tracking.domain.why')}
        placeholder={t('campaign.tracking.domain.none')}
        value={value.tracking_domain}
        onChange={(event) => change({ tracking_domain: event.currentTarget.value.trim() })}
        disabled={isReadOnly}
        spellCheck={false}
        autoCapitalize="off"
        maw={420}
      />
      {stored.tracking_domain && value.tracking_domain === stored.tracking_domain ? (
        <Verification campaign={stored} isReadOnly={isReadOnly} />
      ) : null}
    </Stack>
  );
}

/**
 * Shows if the stored domain is in use, and has a button that checks its DNS records. The API names the missing ones.
 */
function Verification({ campaign, isReadOnly }: { campaign: Campaign; isReadOnly: boolean }) {
  const t = useText();
  const { id, tracking_domain_verified: isVerified } = campaign;
  const verify = useAction(
    async () => {
      try {
        await dataOf(heron.POST('/v1/campaigns/{id}/tracking-domain/verify', { params: { path: { id } } }));
      } finally {
        // Refetches the campaign, because a failed check removes the verification.
        await queryClient.invalidateQueries({ queryKey: ['campaigns', id], exact: true });
      }
    },
    { isShown: true, done: t('campaign.tracking.done') },
  );
  return (
    <>
      <Group gap="sm" mt={-8}>
        <Badge variant="light" color={isVerified ? 'teal' : 'yellow'} tt="none">
          {t(isVerified ? 'campaign.tracking.verified' : 'campaign.tracking.unverified')}
        </Badge>
        {isReadOnly ? null : (
          <Button size="xs" variant="default" onClick={() => verify.mutate()} loading={verify.isPending}>
            {t('campaign.tracking.check')}
          </Button>
        )}
      </Group>
      <ErrorNote error={verify.error} />
    </>
  );
}
