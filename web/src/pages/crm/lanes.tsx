import {
  DndContext,
  DragOverlay,
  KeyboardSensor,
  MouseSensor,
  pointerWithin,
  rectIntersection,
  TouchSensor,
  useDraggable,
  useDroppable,
  useSensor,
  useSensors,
  type CollisionDetection,
  type KeyboardCoordinateGetter,
} from '@dnd-kit/core';
import { ActionIcon, ColorSwatch, Group, Text } from '@mantine/core';
import IconGrip from 'tabler:grip-vertical';
import { useState } from 'react';
import { shownAddress } from '../../components/address.ts';
import { showError } from '../../components/action.ts';
import { Ago } from '../../components/time.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { offerUndo } from '../../components/undo.tsx';
import { nameOf } from '../../components/name.ts';
import { toMoney } from '../../components/money.ts';
import { toNumber, useText } from '../../text/index.ts';
import { moveDeal, sums, type Deal, type Pipeline, type Stage } from './deals.ts';
import classes from './lanes.module.css';

/** Returns the drop target: the lane under the mouse or, with the keyboard, the lane that the card covers most. */
const meant: CollisionDetection = (held) => (held.pointerCoordinates ? pointerWithin(held) : rectIntersection(held));

/**
 * Moves a picked-up card to the neighbouring lane with the arrow keys. If no lane is under the card yet, starts at the
 * lane of the card's stage.
 */
const toLaneBeside: KeyboardCoordinateGetter = (
  event,
  { context: { active, over, collisionRect, droppableContainers, droppableRects } },
) => {
  const step = event.code === 'ArrowRight' ? 1 : event.code === 'ArrowLeft' ? -1 : 0;
  if (step === 0) return undefined;
  event.preventDefault();
  // The card was just picked up and has not been measured yet, so it would move too far.
  if (!collisionRect) return undefined;
  const lanes = droppableContainers
    .getEnabled()
    .flatMap(({ id }) => {
      const rect = droppableRects.get(id);
      return rect ? [{ id, rect }] : [];
    })
    .toSorted((a, b) => a.rect.left - b.rect.left);
  const here = over?.id ?? active?.data.current?.stageId;
  const next = lanes[lanes.findIndex(({ id }) => id === here) + step];
  return next ? { x: next.rect.left + 8, y: next.rect.top + 40 } : undefined;
};

/** Stages side by side with their deals. A deal is moved by mouse, by touch, or by the keys of its handle. */
export function Lanes({ pipeline, deals, mayMove }: { pipeline: Pipeline; deals: readonly Deal[]; mayMove: boolean }) {
  const t = useText();
  const [heldId, setHeld] = useState<string>();
  const sensors = useSensors(
    useSensor(MouseSensor, { activationConstraint: { distance: 6 } }),
    useSensor(TouchSensor, { activationConstraint: { delay: 200, tolerance: 8 } }),
    useSensor(KeyboardSensor, { coordinateGetter: toLaneBeside }),
  );
  const held = deals.find(({ id }) => id === heldId);
  const nameOfStage = (id: unknown) => pipeline.stages.find((stage) => stage.id === id)?.name ?? '';
  const nameOfDeal = (id: unknown) => deals.find((deal) => deal.id === id)?.name ?? '';
  const over = (deal: unknown, stage: unknown) =>
    t('crm.move.over', { name: nameOfDeal(deal), stage: nameOfStage(stage) });
  const move = async (deal: Deal, stage: Stage) => {
    const from = pipeline.stages.find(({ id }) => id === deal.stage_id);
    try {
      await moveDeal(pipeline.id, deal.id, stage);
      if (from)
        offerUndo(t('crm.moved', { name: deal.name, stage: stage.name }), () => moveDeal(pipeline.id, deal.id, from));
    } catch (error) {
      showError(error);
    }
  };
  return (
    <DndContext
      sensors={sensors}
      collisionDetection={meant}
      onDragStart={({ active }) => setHeld(String(active.id))}
      onDragCancel={() => setHeld(undefined)}
      onDragEnd={({ active, over }) => {
        setHeld(undefined);
        const deal = deals.find(({ id }) => id === active.id);
        const stage = pipeline.stages.find(({ id }) => id === over?.id);
        if (deal && stage && deal.stage_id !== stage.id) void move(deal, stage);
      }}
      accessibility={{
        screenReaderInstructions: { draggable: t('crm.move.how') },
        announcements: {
          onDragStart: ({ active }) => over(active.id, deals.find(({ id }) => id === active.id)?.stage_id),
          onDragOver: (event) => (event.over ? over(event.active.id, event.over.id) : undefined),
          onDragEnd: ({ active, over }) =>
            t('crm.move.dropped', { name: nameOfDeal(active.id), stage: nameOfStage(over?.id) }),
          onDragCancel: ({ active }) => t('crm.move.cancelled', { name: nameOfDeal(active.id) }),
        },
      }}
    >
      <div className={classes.board} role="group" aria-label={pipeline.name} tabIndex={0}>
        {pipeline.stages.map((stage) => (
          <Lane
            key={stage.id}
            stage={stage}
            deals={deals.filter(({ stage_id }) => stage_id === stage.id)}
            mayMove={mayMove}
          />
        ))}
      </div>
      <DragOverlay dropAnimation={null}>
        {held ? (
          <div className={`${classes.card} ${classes.held}`}>
            <CardContent deal={held} />
          </div>
        ) : null}
      </DragOverlay>
    </DndContext>
  );
}

function Lane({ stage, deals, mayMove }: { stage: Stage; deals: readonly Deal[]; mayMove: boolean }) {
  const t = useText();
  const { setNodeRef, isOver } = useDroppable({ id: stage.id });
  return (
    <section ref={setNodeRef} className={classes.lane} data-over={isOver || undefined} aria-label={stage.name}>
      <div className={classes.head}>
        <Group gap={8} wrap="nowrap">
          <ColorSwatch size={9} color={stage.color} withShadow={false} />
          <Text size="sm" fw={600} className="clip" title={stage.name}>
            {stage.name}
          </Text>
          <Text size="sm" c="dimmed">
            {deals.length > 0 ? toNumber(deals.length) : ''}
          </Text>
        </Group>
        <Text size="xs" c="dimmed" className="figures" mih={18}>
          {sums(deals)
            .map(([currency, value]) => toMoney(value, currency))
            .join(' · ')}
        </Text>
      </div>
      {deals.map((deal) => (
        <Card key={deal.id} deal={deal} mayMove={mayMove} />
      ))}
      {deals.length === 0 ? (
        <Text size="xs" c="dimmed" ta="center" pt="lg">
          {t('crm.lane.empty')}
        </Text>
      ) : null}
    </section>
  );
}

function Card({ deal, mayMove }: { deal: Deal; mayMove: boolean }) {
  const t = useText();
  const { setNodeRef, setActivatorNodeRef, listeners, attributes, isDragging } = useDraggable({
    id: deal.id,
    data: { stageId: deal.stage_id },
    disabled: !mayMove,
  });
  return (
    <article
      ref={setNodeRef}
      className={classes.card}
      data-held={isDragging || undefined}
      data-movable={mayMove || undefined}
      aria-label={deal.name}
      onMouseDown={listeners?.onMouseDown as React.MouseEventHandler | undefined}
      onTouchStart={listeners?.onTouchStart as React.TouchEventHandler | undefined}
    >
      <CardContent deal={deal} />
      {mayMove ? (
        <ActionIcon
          ref={setActivatorNodeRef}
          className={classes.grip}
          size="sm"
          variant="subtle"
          color="gray"
          onKeyDown={listeners?.onKeyDown as React.KeyboardEventHandler | undefined}
          aria-describedby={attributes['aria-describedby']}
          aria-label={t('crm.move', { name: deal.name })}
        >
          <IconGrip size={15} />
        </ActionIcon>
      ) : null}
    </article>
  );
}

function CardContent({ deal }: { deal: Deal }) {
  const { contact } = deal;
  const who = contact ? shownAddress(nameOf(contact)) : '';
  return (
    <>
      <Text size="sm" fw={600} pr={22} lineClamp={2} className="wrap-anywhere">
        <PageLink to={`/crm/deals/${deal.id}`} inherit c="inherit" title={deal.name}>
          {deal.name}
        </PageLink>
      </Text>
      {who ? (
        <Text size="xs" c="dimmed" className="clip" title={contact?.email}>
          {[who, contact?.company].filter(Boolean).join(', ')}
        </Text>
      ) : null}
      <Group gap={6} justify="space-between" mt={4} wrap="nowrap">
        <Text size="sm" className="figures">
          {deal.value === null ? '' : toMoney(deal.value, deal.currency)}
        </Text>
        {deal.expected_close_date ? (
          <Text size="xs" c="dimmed">
            <Ago at={deal.expected_close_date} />
          </Text>
        ) : null}
      </Group>
    </>
  );
}
