import { Handle, Position, type Edge, type Node, type NodeProps } from '@xyflow/react';
import { FlowPicture, EDGE_STYLE } from '../../components/flow-picture.tsx';
import { textOf, useText } from '../../text/index.ts';
import type { Choices } from './choices.ts';
import { NODE, type Draft, type FlowNode, type Result } from './flow.ts';
import classes from './graph.module.css';
import { summaryOf } from './summary.ts';

type Shown = Node<{
  node: FlowNode;
  title: string;
  said: string;
  result?: Result;
  isChosen: boolean;
  choose: () => void;
}>;
const KINDS = { flow: NodeOnGraph };
const FIT = { maxZoom: 1, padding: 0.12 };

/** Graph of the flow. With results, it shows the result of each node and the branches taken. */
export default function GraphPicture({
  draft,
  choices,
  chosen,
  choose,
  results,
  onMove,
}: {
  draft: Draft;
  choices: Choices;
  chosen: string;
  choose: (id: string) => void;
  results: readonly Result[] | undefined;
  /** Called when a node was moved. Without it, nodes cannot be moved. */
  onMove: ((id: string, place: { x: number; y: number }) => void) | undefined;
}) {
  const t = useText();
  const { graph } = draft;
  const of = new Map(results?.map((result) => [result.node_id, result]));
  const nodes: Shown[] = graph.nodes.map((node) => ({
    id: node.id,
    type: 'flow',
    position: { x: node.x, y: node.y },
    ...NODE,
    data: {
      node,
      ...summaryOf(draft, node, choices),
      ...(of.has(node.id) ? { result: of.get(node.id)! } : {}),
      isChosen: node.id === chosen,
      choose: () => choose(node.id),
    },
  }));
  const edges: Edge[] = graph.edges.map((edge) => {
    const status = of.get(edge.source)?.status;
    const isTaken =
      edge.when === '' ? status === 'success' : status === (edge.when === 'true' ? 'branch_true' : 'branch_false');
    return {
      ...EDGE_STYLE,
      id: edge.id,
      source: edge.source,
      target: edge.target,
      animated: isTaken,
      className: isTaken ? classes.taken! : '',
      ...(edge.when ? { label: t(`automations.when.${edge.when}`) } : {}),
    };
  });
  return (
    <div className={classes.graph} role="group" aria-label={t('automations.picture')}>
      <FlowPicture
        key={graph.nodes.length}
        fit={FIT}
        nodes={nodes}
        edges={edges}
        nodeTypes={KINDS}
        nodesDraggable={onMove !== undefined}
        onNodesChange={(changes) => {
          for (const change of changes)
            if (change.type === 'position' && change.position) onMove?.(change.id, change.position);
        }}
      />
    </div>
  );
}

function NodeOnGraph({ data: { node, title, said, result, isChosen, choose } }: NodeProps<Shown>) {
  return (
    <>
      {node.type === 'trigger' ? null : <Handle type="target" position={Position.Top} isConnectable={false} />}
      <button
        type="button"
        className={classes.node}
        data-type={node.type}
        data-status={result?.status}
        aria-pressed={isChosen}
        onClick={choose}
      >
        <span className={classes.title}>
          <span className="clip" title={title}>
            {title}
          </span>
          {result ? <span className={classes.status}>{textOf('automations.result', result.status)}</span> : null}
        </span>
        <span className={classes.said} title={said}>
          {result?.error ?? said}
        </span>
      </button>
      <Handle type="source" position={Position.Bottom} isConnectable={false} />
    </>
  );
}
