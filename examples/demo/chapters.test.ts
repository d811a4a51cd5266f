import test from 'ava';
import { CHAPTERS, faultsOf, type Chapter, type Told } from './chapters.ts';
import { CHECKS } from './check.ts';

const NAMES = Object.keys(CHAPTERS) as Chapter[];

function tellAll(): Record<Chapter, [string, string[]][]> {
  return Object.fromEntries(
    NAMES.map((name) => [name, CHAPTERS[name].checks.map((check): [string, string[]] => [check, []])]),
  ) as Record<Chapter, [string, string[]][]>;
}

test('the demo makes 42 checks, of which no two have the same title', (t) => {
  const checks = NAMES.flatMap((name): readonly string[] => CHAPTERS[name].checks);
  t.is(checks.length, 42);
  t.is(new Set(checks).size, checks.length);
});

test('the checks of the campaign are those that are made of it', (t) => {
  t.deepEqual(
    CHECKS.map(([name]) => name),
    [...CHAPTERS.campaign.checks],
  );
});

test('a telling with every check and no difference is proved', (t) => {
  t.deepEqual(faultsOf(tellAll()), []);
});

for (const name of NAMES) {
  test(`a telling that leaves a check of ${name} out, makes another, or finds a difference is not proved`, (t) => {
    const [first] = CHAPTERS[name].checks;
    const told = tellAll();
    t.deepEqual(faultsOf({ ...told, [name]: told[name].slice(1) }), [`missing: ${first}`]);
    t.deepEqual(faultsOf({ ...told, [name]: [...told[name], ['the moon is full', []]] }), [
      'too much: the moon is full',
    ]);
    t.deepEqual(faultsOf({ ...told, [name]: [[first, ['one less']], ...told[name].slice(1)] }), [first]);
    const { [name]: _, ...others } = told;
    t.is(faultsOf(others satisfies Told).length, CHAPTERS[name].checks.length);
  });
}
