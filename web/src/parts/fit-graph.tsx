import { useReactFlow, useStore, type FitViewOptions } from '@xyflow/react';
import { useEffect } from 'react';

/** Inside a graph: shows all of it again when its place becomes wider or narrower, as it does when a panel opens beside it. */
export function FitGraph(options: Pick<FitViewOptions, 'maxZoom' | 'padding'>) {
  const width = useStore((state) => state.width);
  const { fitView } = useReactFlow();
  const { maxZoom, padding } = options;
  useEffect(() => {
    if (width > 0) void fitView({ maxZoom: maxZoom!, padding: padding! });
  }, [width, fitView, maxZoom, padding]);
  return null;
}
