import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { region } from '../app/preferences.ts';
import { toNumber } from '../text/index.ts';

const DAY_S = 86_400;

interface Line {
  label: string;
  color: string;
  values: readonly number[];
  isShown: boolean;
}

/** Draws a chart. The code is loaded with the first chart. */
export default function Plot({
  title,
  height,
  dates,
  lines,
  onHover,
  onReady,
}: {
  /** Title written into the saved image. */
  title: string;
  height: number;
  dates: readonly string[];
  lines: readonly Line[];
  onHover: (at: number | null) => void;
  onReady: (save: () => Promise<Blob>) => void;
}) {
  const host = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme();
  const shape = JSON.stringify([dates, lines, scheme]);
  useEffect(() => {
    const element = host.current!;
    const [ink, rule, paper] =
      scheme === 'dark' ? ['#aab2bb', '#33373d', '#242424'] : ['#56616d', '#e6e9ed', '#ffffff'];
    const axis = { stroke: ink, grid: { stroke: rule, width: 1 }, ticks: { stroke: rule, width: 1 } };
    const seconds = dates.map((one) => Date.parse(one) / 1000);
    // If all data belongs to a single day, the ticks are hours.
    const isOfDay = seconds.length > 1 && seconds.at(-1)! - seconds[0]! < DAY_S;
    const format = new Intl.DateTimeFormat(region(), {
      ...(isOfDay ? ({ hour: '2-digit', minute: '2-digit' } as const) : ({ day: 'numeric', month: 'short' } as const)),
      timeZone: 'UTC',
    });
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height,
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false } },
        tzDate: (at) => uPlot.tzDate(new Date(at * 1000), 'UTC'),
        scales: { y: { range: (_, __, most) => [0, Math.max(4, most * 1.1)] } },
        series: [
          {},
          ...lines.map(({ label, color, isShown }) => ({
            label,
            stroke: color,
            width: 2,
            show: isShown,
            points: { size: 5 },
          })),
        ],
        axes: [
          { ...axis, space: 64, values: (_, splits) => splits.map((at) => format.format(new Date(at * 1000))) },
          {
            ...axis,
            size: 48,
            incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 1e7],
            values: (_, splits) => splits.map((value) => toNumber(value, { notation: 'compact' })),
          },
        ],
        hooks: { setCursor: [({ cursor }) => onHover(cursor.idx ?? null)] },
      },
      [seconds, ...lines.map(({ values }) => [...values])],
      element,
    );
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    resize.observe(element);
    onReady(() => toPicture(plot.ctx.canvas, title, lines, { ink, paper }));
    return () => {
      resize.disconnect();
      plot.destroy();
    };
  }, [shape]);
  return <div ref={host} style={{ minHeight: height }} aria-hidden="true" />;
}

/** Renders the drawing with its title and line names on a white background. */
async function toPicture(
  drawing: HTMLCanvasElement,
  title: string,
  lines: readonly Line[],
  { ink, paper }: { ink: string; paper: string },
): Promise<Blob> {
  const scale = window.devicePixelRatio;
  const head = 56 * scale;
  const canvas = document.createElement('canvas');
  canvas.width = drawing.width;
  canvas.height = drawing.height + head;
  const context = canvas.getContext('2d')!;
  context.fillStyle = paper;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = ink;
  context.font = `600 ${14 * scale}px system-ui, sans-serif`;
  context.fillText(title, 12 * scale, 22 * scale);
  context.font = `${12 * scale}px system-ui, sans-serif`;
  let left = 12 * scale;
  for (const { label, color } of lines.filter(({ isShown }) => isShown)) {
    context.fillStyle = color;
    context.fillRect(left, 36 * scale, 10 * scale, 10 * scale);
    context.fillStyle = ink;
    context.fillText(label, left + 15 * scale, 45 * scale);
    left += 36 * scale + context.measureText(label).width;
  }
  context.drawImage(drawing, 0, head);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('no picture'))), 'image/png'),
  );
}
