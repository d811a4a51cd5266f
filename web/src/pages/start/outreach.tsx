import { Radio, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { useAction } from '../../components/action.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { useText } from '../../text/index.ts';

const MODES = ['off', 'warn', 'hold'] as const;
type Mode = (typeof MODES)[number];

/** Dialog with the workspace's settings for all campaigns. */
export default function Outreach({ onClose }: { onClose: () => void }) {
  const t = useText();
  const settings = useQuery({
    queryKey: ['settings', 'outreach'],
    queryFn: () => dataOf(heron.GET('/v1/outreach/settings')),
  });
  const save = useAction(
    // The API replaces all settings, so those that are not shown here are sent unchanged.
    (mode: Mode) =>
      dataOf(
        heron.PATCH('/v1/outreach/settings', { body: { settings: { ...settings.data!, campaign_overlap: { mode } } } }),
      ),
    { stale: [['settings', 'outreach']], done: t('outreach.saved') },
  );
  return (
    <Dialog onClose={onClose} title={t('outreach.title')}>
      <Answered query={settings} skeleton={<ListSkeleton rows={3} height={24} />}>
        {({ campaign_overlap: { mode } }) => (
          <Radio.Group
            label={t('outreach.overlap')}
            description={t('outreach.overlap.why')}
            value={save.isPending ? save.variables : mode}
            onChange={(value) => save.mutate(value as Mode)}
          >
            <Stack gap="xs" mt="xs">
              {MODES.map((value) => (
                <Radio
                  key={value}
                  value={value}
                  label={t(`outreach.overlap.${value}`)}
                  description={t(`outreach.overlap.${value}.why`)}
                />
              ))}
            </Stack>
          </Radio.Group>
        )}
      </Answered>
    </Dialog>
  );
}
