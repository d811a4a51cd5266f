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

/** How a way between two nodes is drawn, and the ground of its label; the arrow keys walk the nodes alone. */
export const WAY = {
  type: 'smoothstep',
  focusable: false,
  labelBgPadding: [6, 3] as [number, number],
  labelBgBorderRadius: 4,
};

/** The largest size and the margin (a part of the picture) at which all of it is shown. */
interface Fit {
  maxZoom: number;
  padding: number;
}

/**
 * Nodes and the ways between them as one picture that is looked at: it can be made larger and smaller, and fits its place anew when a panel opens beside it.
 * Nodes that can be chosen have buttons of their own; with `nodesDraggable` they can be moved too.
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
          // Nodes are not chosen or moved by keys: their buttons are.
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

/** Shows all of the picture again when its place becomes wider or narrower. */
function FitAgain({ maxZoom, padding }: Fit) {
  const width = useStore((state) => state.width);
  const { fitView } = useReactFlow();
  useEffect(() => {
    if (width > 0) void fitView({ maxZoom, padding });
  }, [width, fitView, maxZoom, padding]);
  return null;
}
