import { Graph, layout } from '@dagrejs/dagre';

/** Point in the graph (px). */
export interface Point {
  x: number;
  y: number;
}

/** Step or end of a way, with its top left corner. */
interface Placed extends Point {
  id: string;
}

/** Step with its links. A link without a next step, or to one that is not among the steps, ends the sequence. */
interface StepWithLinks {
  id: string;
  links: readonly { to: string | null; label: string }[];
}

/** Link from a step, with its course around the other steps and the centre of its label. */
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
/** Size of a label's text (px): average width of a letter, height of its line with a margin. */
const LETTER = 6.4;
const LABEL_HEIGHT = 22;
const GAP = { nodesep: 48, ranksep: 40, edgesep: 24 };

/**
 * Lays out a sequence from the top: each step is below its predecessors, and no link passes behind a step or another
 * link's label. Each link that ends the sequence has a mark of its own.
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
        graph.setNode(target, { ...END });
      }
      const size = label ? { width: label.length * LETTER + 12, height: LABEL_HEIGHT } : { width: 0, height: 0 };
      graph.setEdge(source, target, { ...size, labelpos: 'c' }, id);
      return { id, source, target, label };
    }),
  );
  layout(graph);
  const place = (id: string): Placed => {
    const { x = 0, y = 0, width, height } = graph.node(id);
    return { id, x: x - width / 2, y: y - height / 2 };
  };
  const { height = NODE.height, width = NODE.width } = graph.graph();
  return {
    steps: steps.map(({ id }) => place(id)),
    ends: ends.map(place),
    ways: ways.map((way): Way => {
      const { points = [], x = 0, y = 0 } = graph.edge(way.source, way.target, way.id);
      return { ...way, points, labelAt: { x, y } };
    }),
    height,
    width,
  };
}

/** Returns the SVG path of a way: a line through its points with rounded turns. */
export function pathOf(points: readonly Point[]): string {
  const [first, ...rest] = points;
  const last = rest.pop();
  if (!first || !last) return '';
  const turns = rest.map((turn, at) => {
    const next = rest[at + 1] ?? last;
    const until = at + 1 < rest.length ? { x: (turn.x + next.x) / 2, y: (turn.y + next.y) / 2 } : next;
    return `Q ${turn.x} ${turn.y} ${until.x} ${until.y}`;
  });
  return [`M ${first.x} ${first.y}`, ...(turns.length > 0 ? turns : [`L ${last.x} ${last.y}`])].join(' ');
}
