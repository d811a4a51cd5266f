import { Graph, layout } from '@dagrejs/dagre';

/** Point in the graph (px). */
export interface Point {
  x: number;
  y: number;
}

/** Step or end mark in the graph, with its top left corner. */
interface Placed extends Point {
  id: string;
}

/** Step with its links. A link without a next step, or to one that is not among the steps, ends the sequence. */
interface StepWithLinks {
  id: string;
  links: readonly { to: string | null; label: string }[];
}

/** Link from a step: the points of its line around the other steps, and the centre of its label. */
export interface Way {
  id: string;
  source: string;
  target: string;
  label: string;
  points: readonly Point[];
  labelAt: Point;
}

export const NODE = { width: 240, height: 108 } as const;
export const END = { width: 84, height: 34 } as const;
/** Size of a label's text (px): average width of a character, and line height including a margin. */
const CHARACTER = 6.4;
const LABEL_HEIGHT = 22;
/** Corner radius of a link's line (px). */
const RADIUS = 12;
const GAP = { nodesep: 48, ranksep: 40, edgesep: 24 };

/**
 * Lays out a sequence from the top: each step is below its predecessors, and no link passes behind a step or another
 * link's label. Each link that ends the sequence has its own end mark.
 */
export function layOut(steps: readonly StepWithLinks[]): {
  steps: Placed[];
  ends: Placed[];
  ways: Way[];
  height: number;
  width: number;
} {
  const ids = new Set(steps.map(({ id }) => id));
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'TB', ...GAP });
  for (const id of ids) graph.setNode(id, { ...NODE });
  const ends: string[] = [];
  const ways = steps.flatMap(({ id: source, links }) =>
    links.map(({ to, label }, at) => {
      const id = `${source}-${at}`;
      const target = to !== null && ids.has(to) ? to : `end-${id}`;
      if (!ids.has(target)) {
        ends.push(target);
        graph.setNode(target, { width: END.width, height: NODE.height });
      }
      const size = label ? { width: label.length * CHARACTER + 12, height: LABEL_HEIGHT } : { width: 0, height: 0 };
      graph.setEdge(source, target, { ...size, labelpos: 'c' }, id);
      return { id, source, target, label };
    }),
  );
  layout(graph);
  const centre = (id: string): Point => ({ x: graph.node(id).x ?? 0, y: graph.node(id).y ?? 0 });
  const place = (id: string, width: number): Placed => {
    const { x, y } = centre(id);
    return { id, x: x - width / 2, y: y - NODE.height / 2 };
  };
  const placed = steps.map(({ id }) => place(id, NODE.width));
  const placedEnds = ends.map((id) => place(id, END.width));
  const tops = [...new Set([...placed, ...placedEnds].map(({ y }) => y))];
  return {
    steps: placed,
    ends: placedEnds,
    ways: ways.map((way): Way => {
      const { points = [], x = 0, y = 0 } = graph.edge(way.source, way.target, way.id);
      const [from, to] = [centre(way.source), centre(way.target)];
      const course = [
        { x: from.x, y: from.y + NODE.height / 2 },
        ...straightInRows(points.slice(1, -1), tops),
        { x: to.x, y: to.y - NODE.height / 2 },
      ];
      return { ...way, points: course, labelAt: { x, y } };
    }),
    height: Math.max(...placed.map(({ y }) => y + NODE.height), ...placedEnds.map(({ y }) => y + END.height)),
    width: graph.graph().width ?? NODE.width,
  };
}

/**
 * Makes a link's line vertical where it passes a row of steps, because a slanted line would cut the corners of steps.
 */
function straightInRows(points: readonly Point[], tops: readonly number[]): Point[] {
  return points.flatMap(({ x, y }) => {
    const top = tops.find((one) => y > one && y < one + NODE.height);
    if (top === undefined) return [{ x, y }];
    return [
      { x, y: top },
      { x, y: top + NODE.height },
    ];
  });
}

/** Returns the SVG path of a link: a line through its points with rounded corners. */
export function pathOf(points: readonly Point[]): string {
  const parts = points.map((point, at) => {
    const [before, after] = [points[at - 1], points[at + 1]];
    if (!before) return `M ${point.x} ${point.y}`;
    if (!after) return `L ${point.x} ${point.y}`;
    const [begin, end] = [towards(point, before), towards(point, after)];
    return `L ${begin.x} ${begin.y} Q ${point.x} ${point.y} ${end.x} ${end.y}`;
  });
  return parts.join(' ');
}

/** Returns the point at which the curve of a corner begins: on the line to a neighbouring point, at most halfway. */
function towards(corner: Point, other: Point): Point {
  const length = Math.hypot(other.x - corner.x, other.y - corner.y);
  const share = length === 0 ? 0 : Math.min(RADIUS, length / 2) / length;
  return { x: corner.x + (other.x - corner.x) * share, y: corner.y + (other.y - corner.y) * share };
}
