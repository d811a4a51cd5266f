import '@xyflow/react/dist/style.css';
import { useComputedColorScheme } from '@mantine/core';
import {
  Controls,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStore,
  type Edge,
  type Node,
  type ReactFlowProps,
} from '@xyflow/react';
import { useEffect } from 'react';
import { useText } from '../text/index.ts';

/** Style of the links between nodes and of their labels. Only nodes are reachable by keyboard. */
export const EDGE_STYLE = {
  type: 'smoothstep',
  focusable: false,
  labelBgPadding: [6, 3] as [number, number],
  labelBgBorderRadius: 4,
};

/** Maximum zoom and margin (as a fraction of the graph) when the whole graph is shown. */
interface Fit {
  maxZoom: number;
  padding: number;
}

/**
 * Graph of nodes and links. It can be zoomed, and refits when a panel opens beside it. Selectable nodes have their own
 * buttons; with `nodesDraggable` they can be moved.
 */
export function FlowPicture<N extends Node>({ fit, edges = [], ...props }: { fit: Fit } & ReactFlowProps<N, Edge>) {
  const t = useText();
  const scheme = useComputedColorScheme('light');
  return (
    <ReactFlowProvider>
      <ReactFlow
        colorMode={scheme}
        fitView
        fitViewOptions={fit}
        minZoom={0.2}
        maxZoom={1.5}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        zoomOnScroll={false}
        zoomOnDoubleClick={false}
        preventScrolling={false}
        proOptions={{ hideAttribution: true }}
        ariaLabelConfig={{
          'controls.ariaLabel': t('picture.controls'),
          'controls.zoomIn.ariaLabel': t('picture.zoomIn'),
          'controls.zoomOut.ariaLabel': t('picture.zoomOut'),
          'controls.fitView.ariaLabel': t('picture.fit'),
          // Nodes are not selected or moved by keys, but by their buttons.
          'node.a11yDescription.default': '',
          'node.a11yDescription.keyboardDisabled': '',
          'edge.a11yDescription.default': '',
          'node.a11yDescription.ariaLiveMessage': () => '',
        }}
        edges={edges.map((edge) => ({
          ...edge,
          ariaLabel: typeof edge.label === 'string' ? edge.label : t('picture.way'),
        }))}
        {...props}
      >
        <Controls showInteractive={false} position="top-right" fitViewOptions={fit} />
        <FitAgain {...fit} />
      </ReactFlow>
    </ReactFlowProvider>
  );
}

/** Fits the graph again when its space becomes wider or narrower. */
function FitAgain({ maxZoom, padding }: Fit) {
  const width = useStore((state) => state.width);
  const { fitView } = useReactFlow();
  useEffect(() => {
    if (width > 0) void fitView({ maxZoom, padding });
  }, [width, fitView, maxZoom, padding]);
  return null;
}
