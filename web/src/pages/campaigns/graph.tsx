import IconFlag from 'tabler:flag';
import {
  BaseEdge,
  getSmoothStepPath,
  Handle,
  Position,
  type Edge,
  type EdgeProps,
  type Node,
  type NodeProps,
} from '@xyflow/react';
import { useMemo } from 'react';
import { FlowPicture, EDGE_STYLE } from '../../components/flow-picture.tsx';
import { useText } from '../../text/index.ts';
import { branchesOf, conditionsText, layOut, NODE, shareOf, type Flow, type Step } from './flow.ts';
import { StepCard } from './step-card.tsx';

type StepNode = Node<{ step: Step; flow: Flow | undefined; isFirst: boolean; isChosen: boolean; choose: () => void }>;
type EndNode = Node<{ label: string }>;

const KINDS = { step: StepInGraph, end: EndInGraph };
const EDGE_TYPES = { branch: BranchInGraph };
const END = { width: 84, height: 34 };
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
  const { places, height, width } = useMemo(() => layOut(steps), [steps]);
  const nodes: (StepNode | EndNode)[] = steps.map((step, at) => ({
    id: step.id,
    type: 'step',
    position: places.get(step.id)!,
    ...NODE,
    data: { step, flow, isFirst: at === 0, isChosen: step.id === chosen, choose: () => choose(step.id) },
  }));
  const edges: Edge[] = [];
  for (const step of steps) {
    const branches = branchesOf(step);
    branches.forEach((branch, at) => {
      const target = branch.to !== null && places.has(branch.to) ? branch.to : `end-${step.id}-${at}`;
      if (branch.to === null) {
        const { x, y } = places.get(step.id)!;
        nodes.push({
          id: target,
          type: 'end',
          position: { x: x + NODE.width + 24 + at * 12, y: y + NODE.height + 8 },
          ...END,
          data: { label: t('sequence.end') },
        });
      }
      const label = [conditionsText(branch), shareOf(flow, step.id, branch.to)].filter(Boolean).join(' · ');
      edges.push({
        ...EDGE_STYLE,
        id: `${step.id}-${at}`,
        source: step.id,
        target,
        ...(branches.length > 1 && branch.to !== null ? { type: 'branch' } : {}),
        ...(label ? { label } : {}),
      });
    });
  }
  return (
    <div
      className="sequence-graph"
      style={{ height: Math.min(height + 2 * MARGIN, TALLEST) }}
      data-width={width}
      role="group"
      aria-label={t('sequence.picture')}
    >
      <FlowPicture
        key={`${steps.length}-${width}-${height}`}
        fit={FIT}
        nodes={nodes}
        edges={edges}
        nodeTypes={KINDS as never}
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

/** One of several links from a step. Its condition is shown above its target, where no other link passes. */
function BranchInGraph({ sourceX, sourceY, sourcePosition, targetX, targetY, targetPosition, ...edge }: EdgeProps) {
  const [path] = getSmoothStepPath({ sourceX, sourceY, sourcePosition, targetX, targetY, targetPosition });
  return (
    <BaseEdge
      id={edge.id}
      path={path}
      label={edge.label}
      labelX={targetX}
      labelY={targetY - 14}
      labelBgPadding={EDGE_STYLE.labelBgPadding}
      labelBgBorderRadius={EDGE_STYLE.labelBgBorderRadius}
    />
  );
}

function EndInGraph({ data }: NodeProps<EndNode>) {
  return (
    <div className="sequence-end">
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <IconFlag size={14} />
      {data.label}
    </div>
  );
}
