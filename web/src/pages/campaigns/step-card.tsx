import { Badge, Group, Text, Tooltip, UnstyledButton } from '@mantine/core';
import IconArrowRight from 'tabler:arrow-right';
import IconBell from 'tabler:bell';
import IconBolt from 'tabler:bolt';
import IconChecklist from 'tabler:checklist';
import IconClock from 'tabler:clock';
import IconCoin from 'tabler:coin';
import IconFlag from 'tabler:flag';
import IconHourglass from 'tabler:hourglass';
import IconMail from 'tabler:mail';
import IconPlug from 'tabler:plug';
import IconTag from 'tabler:tag';
import IconUserOff from 'tabler:user-off';
import { textOf, useText } from '../../text/index.ts';
import { useChosenName } from './choices.ts';
import { summaryOf, typeOf, type Flow, type Step } from './flow.ts';

const ICONS = {
  email: IconMail,
  wait: IconClock,
  wait_for_event: IconHourglass,
  app_action: IconPlug,
  add_tag: IconTag,
  remove_tag: IconTag,
  unsubscribe: IconUserOff,
  notify: IconBell,
  create_task: IconChecklist,
  create_deal: IconCoin,
  move_deal_stage: IconArrowRight,
  run_automation: IconBolt,
  end: IconFlag,
};

/** Icon of a kind of step. */
export function StepIcon({ type, size = 16 }: { type: string; size?: number }) {
  const Picture = ICONS[type as keyof typeof ICONS] ?? IconBolt;
  return <Picture size={size} stroke={1.7} />;
}

/** Card of one step: its kind, its summary, and its current number of leads. */
export function StepCard({
  step,
  flow,
  isFirst,
  isChosen,
  choose,
}: {
  step: Step;
  flow: Flow | undefined;
  isFirst: boolean;
  isChosen: boolean;
  choose: () => void;
}) {
  const t = useText();
  const type = typeOf(step);
  const chosen = useChosenName(step);
  const counts = flow?.steps.find(({ step_id }) => step_id === step.id);
  const standing = (counts?.standing ?? 0) + (isFirst ? (flow?.pending ?? 0) : 0);
  const summary = [chosen, summaryOf(step, isFirst)].filter(Boolean).join(' · ');
  const name = step.name.trim() || textOf('step.kind', type);
  return (
    <UnstyledButton
      className="sequence-step nodrag nopan"
      data-chosen={isChosen}
      onClick={choose}
      aria-pressed={isChosen}
    >
      <Group gap={6} wrap="nowrap">
        <StepIcon type={type} />
        <Text size="xs" c="dimmed" flex={1} className="clip">
          {textOf('step.kind', type)}
        </Text>
        {standing > 0 ? (
          <Tooltip label={isFirst ? t('sequence.standing.first') : t('sequence.standing.why')}>
            <Badge variant="light" size="sm" tt="none" className="figures">
              {t('sequence.standing', { count: standing })}
            </Badge>
          </Tooltip>
        ) : null}
      </Group>
      <Text size="sm" fw={600} className="clip" title={name}>
        {name}
      </Text>
      <Text size="xs" c="dimmed" className="clip" title={summary}>
        {summary}
      </Text>
      {counts && counts.reached > 0 ? (
        <Text size="xs" c="dimmed" className="clip figures">
          {t('sequence.reached', { count: counts.reached })}
          {counts.ended > 0 ? ` · ${t('sequence.ended', { count: counts.ended })}` : null}
        </Text>
      ) : null}
    </UnstyledButton>
  );
}
