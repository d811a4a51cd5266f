import { Radio, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../../app/api.ts';
import { useAct } from '../../parts/act.ts';
import { Section } from '../../parts/section.tsx';
import { Answered, ListSkeleton } from '../../parts/states.tsx';
import { useText } from '../../text/index.ts';

const MODES = ['off', 'warn', 'hold'] as const;
type Mode = (typeof MODES)[number];

/** Rules of the workspace for all campaigns. */
export function Outreach() {
  const t = useText();
  const settings = useQuery({
    queryKey: ['outreach-settings'],
    queryFn: () => dataOf(heron.GET('/v1/outreach/settings')),
  });
  const save = useAct(
    // The API replaces all settings, so those that are not shown here are sent as they are.
    (mode: Mode) =>
      dataOf(
        heron.PATCH('/v1/outreach/settings', { body: { settings: { ...settings.data!, campaign_overlap: { mode } } } }),
      ),
    { stale: [['outreach-settings']], done: t('outreach.saved') },
  );
  return (
    <Section title={t('outreach.title')} size="h4">
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
    </Section>
  );
}
