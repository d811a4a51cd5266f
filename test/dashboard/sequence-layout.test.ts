import test from 'ava';
import fc from 'fast-check';
import { layOut, NODE, type Point } from '../../web/src/pages/campaigns/layout.ts';

/** Sequences without circles: every link leads to a later step or ends the sequence. */
const sequences = fc.integer({ min: 1, max: 12 }).chain((count) =>
  fc.tuple(
    ...Array.from({ length: count }, (_, at) =>
      fc
        .array(
          fc.record({
            to: fc.option(fc.integer({ min: at + 1, max: count + 1 })),
            label: fc.string({ maxLength: 30 }),
          }),
          {
            maxLength: 3,
          },
        )
        .map((links) => ({
          id: `${at}`,
          links: links.map(({ to, label }) => ({ to: to === null ? null : `${to}`, label })),
        })),
    ),
  ),
);

/** Returns true if the line between two points enters a step's card. */
function crosses(a: Point, b: Point, card: Point): boolean {
  const inset = 2;
  const at = (share: number) => ({ x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share });
  return Array.from({ length: 101 }, (_, n) => at(n / 100)).some(
    ({ x, y }) =>
      x > card.x + inset && x < card.x + NODE.width - inset && y > card.y + inset && y < card.y + NODE.height - inset,
  );
}

test('no link passes behind a step, steps do not overlap, and each is below the one before', (t) => {
  const check = (isRight: boolean, said: string) => {
    if (!isRight) throw new Error(said);
  };
  fc.assert(
    fc.property(sequences, (sequence) => {
      const { steps, ends, ways } = layOut(sequence);
      check(steps.length === sequence.length, 'a step is missing');
      check(ways.length === sequence.flatMap(({ links }) => links).length, 'a link is missing');
      for (const [at, one] of steps.entries())
        for (const other of steps.slice(at + 1))
          check(Math.abs(one.x - other.x) >= NODE.width || Math.abs(one.y - other.y) >= NODE.height, 'steps overlap');
      const places = new Map([...steps, ...ends].map((place) => [place.id, place]));
      for (const { id, source, target, points } of ways) {
        check(places.get(target)!.y > places.get(source)!.y, `${target} is not below ${source}`);
        for (const card of steps)
          for (const [at, point] of points.slice(1).entries())
            check(
              !crosses(points[at]!, point, card),
              `${id} passes behind ${card.id}: ${JSON.stringify({ points, card })}`,
            );
      }
    }),
    { seed: 43, numRuns: 200 },
  );
  t.pass();
});
