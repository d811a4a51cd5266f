import { Box, Button, Group, Paper, Skeleton, Text, UnstyledButton } from '@mantine/core';
import { lazy, Suspense, useId, useRef, useState, type ReactNode } from 'react';
import { toNumber, useText } from '../text/index.ts';
import { saveAs } from './download.ts';
import classes from './chart.module.css';

const Plot = lazy(() => import('./plot.tsx'));
/** Line colours that colour-blind people can distinguish, on light and dark backgrounds. */
const COLORS = ['#2f72cc', '#d9730d', '#0f9d78', '#b5179e', '#8a6d00'];
const HEIGHT = 240;

interface Series {
  label: string;
  /** One value for each date. */
  values: readonly number[];
}

/**
 * Line chart of numbers per day or hour, with period and time zone under the title. A table with the same numbers is
 * passed as `children`. Lines can be hidden by their names, and the chart saved as PNG.
 */
export function TimeChart({
  title,
  note,
  filename,
  dates,
  labels = dates,
  series,
  children,
}: {
  title: string;
  note: string;
  filename: string;
  /** Days (YYYY-MM-DD, UTC), or the starts of hours (RFC 3339). */
  dates: readonly string[];
  /** Names of the dates, shown on hover. */
  labels?: readonly string[];
  series: readonly Series[];
  children: ReactNode;
}) {
  const t = useText();
  const id = useId();
  const [hidden, setHidden] = useState<readonly string[]>([]);
  const [at, setAt] = useState<number | null>(null);
  const [isTableOpen, setTableOpen] = useState(false);
  const picture = useRef<() => Promise<Blob>>(undefined);
  const lines = series.map((one, index) => ({
    ...one,
    color: COLORS[index % COLORS.length]!,
    isShown: !hidden.includes(one.label),
  }));
  const toggle = (label: string) =>
    setHidden((before) => (before.includes(label) ? before.filter((one) => one !== label) : [...before, label]));
  return (
    <Paper withBorder radius="md" p="lg" component="section" aria-labelledby={id}>
      <Group justify="space-between" align="flex-start" mb="sm" gap="xs">
        <div>
          <Text component="h2" fw={650} size="md" m={0} id={id}>
            {title}
          </Text>
          <Text size="xs" c="dimmed">
            {at === null ? note : labels[at]}
          </Text>
        </div>
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={() => setTableOpen(!isTableOpen)} aria-expanded={isTableOpen}>
            {t(isTableOpen ? 'chart.hideTable' : 'chart.table')}
          </Button>
          <Button
            size="xs"
            variant="default"
            aria-label={t('png.of', { name: title })}
            onClick={() => void picture.current?.().then((blob) => saveAs(blob, `${filename}.png`))}
          >
            {t('png')}
          </Button>
        </Group>
      </Group>
      <Group gap="md" mb="xs">
        {lines.map(({ label, color, isShown, values }) => (
          <UnstyledButton
            key={label}
            className={classes.key}
            aria-pressed={isShown}
            onClick={() => toggle(label)}
            data-hidden={!isShown || undefined}
          >
            <Box component="span" className={classes.mark} style={{ background: color }} />
            {label}
            <b className="figures">
              {toNumber(at === null ? values.reduce((sum, one) => sum + one, 0) : (values[at] ?? 0))}
            </b>
          </UnstyledButton>
        ))}
      </Group>
      <div role="img" aria-label={`${title}, ${note}`}>
        <Suspense fallback={<Skeleton height={HEIGHT} />}>
          <Plot
            title={`${title} · ${note}`}
            height={HEIGHT}
            dates={dates}
            lines={lines}
            onHover={setAt}
            onReady={(save) => (picture.current = save)}
          />
        </Suspense>
      </div>
      {isTableOpen ? <Box mt="md">{children}</Box> : null}
    </Paper>
  );
}
