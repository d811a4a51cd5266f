import IconFlag from 'tabler:flag';
import { BaseEdge, Handle, Position, type Edge, type EdgeProps, type Node, type NodeProps } from '@xyflow/react';
import { useMemo } from 'react';
import { FlowPicture, EDGE_STYLE } from '../../components/flow-picture.tsx';
import { useText } from '../../text/index.ts';
import { branchesOf, conditionsText, shareOf, type Flow, type Step } from './flow.ts';
import { END, layOut, NODE, pathOf, type Way } from './layout.ts';
import { StepCard } from './step-card.tsx';

type StepNode = Node<{ step: Step; flow: Flow | undefined; isFirst: boolean; isChosen: boolean; choose: () => void }>;
type EndNode = Node<{ label: string }>;
type WayEdge = Edge<Pick<Way, 'points' | 'labelAt'>>;

const KINDS = { step: StepInGraph, end: EndInGraph };
const EDGE_TYPES = { way: WayInGraph };
const MARGIN = 24;
const TALLEST = 2_400;
const FIT = { maxZoom: 1, padding: 0.04 };

/** Graph of the sequence: steps with their current leads, links with conditions and shares. */
export default function Graph({
  steps,
  flow,
  chosen,
  choose,
}: {
  steps: readonly Step[];
  flow: Flow | undefined;
  chosen: string;
  choose: (id: string) => void;
}) {
  const t = useText();
  const picture = useMemo(
    () =>
      layOut(
        steps.map((step) => {
          const branches = branchesOf(step);
          const otherwise = branches.length > 1 ? t('sequence.always') : '';
          const links = branches.map((branch) => ({
            to: branch.to,
            label: [conditionsText(branch) || otherwise, shareOf(flow, step.id, branch.to)].filter(Boolean).join(' · '),
          }));
          return { id: step.id, links };
        }),
      ),
    [steps, flow, t],
  );
  const stepNodes = picture.steps.map(({ id, ...position }, at): StepNode => {
    const step = steps[at]!;
    const data = { step, flow, isFirst: at === 0, isChosen: id === chosen, choose: () => choose(id) };
    return { id, type: 'step', position, ...NODE, data };
  });
  const endNodes = picture.ends.map(({ id, ...position }): EndNode => ({
    id,
    type: 'end',
    position,
    ...END,
    data: { label: t('sequence.end') },
  }));
  const edges = picture.ways.map(({ id, source, target, label, points, labelAt }): WayEdge => {
    return { ...EDGE_STYLE, id, type: 'way', source, target, ...(label ? { label } : {}), data: { points, labelAt } };
  });
  return (
    <div
      className="sequence-graph"
      style={{ height: Math.min(picture.height + 2 * MARGIN, TALLEST) }}
      data-width={picture.width}
      role="group"
      aria-label={t('sequence.picture')}
    >
      <FlowPicture
        key={`${steps.length}-${picture.width}-${picture.height}`}
        fit={FIT}
        nodes={[...stepNodes, ...endNodes]}
        edges={edges}
        nodeTypes={KINDS}
        edgeTypes={EDGE_TYPES}
      />
    </div>
  );
}

function StepInGraph({ data }: NodeProps<StepNode>) {
  return (
    <>
      <Handle type="target" position={Position.Top} isConnectable={false} />
      <StepCard {...data} />
      <Handle type="source" position={Position.Bottom} isConnectable={false} />
    </>
  );
}

/** Draws the line of a link, around the other steps. */
function WayInGraph({ id, label, data }: EdgeProps<WayEdge>) {
  return (
    <BaseEdge
      id={id}
      path={pathOf(data?.points ?? [])}
      label={label}
      labelX={data?.labelAt.x}
      labelY={data?.labelAt.y}
      labelBgPadding={EDGE_STYLE.labelBgPadding}
      labelBgBorderRadius={EDGE_STYLE.labelBgBorderRadius}
    />
  );
}

function EndInGraph({ data }: NodeProps<EndNode>) {
  return (
    <div className="sequence-end">
      <Handle type="target" position={Position.Top} isConnectable={false} />
      <IconFlag size={14} />
      {data.label}
    </div>
  );
}
