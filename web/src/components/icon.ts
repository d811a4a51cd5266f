import { createElement, type ReactNode } from 'react';

/** Creates an icon component from outline paths on a 24 by 24 grid. `size` is in pixels, `stroke` in grid units. */
export function outlineIcon(...paths: readonly string[]) {
  return ({ size = 24, stroke = 2 }: { size?: number; stroke?: number }): ReactNode =>
    createElement(
      'svg',
      {
        width: size,
        height: size,
        viewBox: '0 0 24 24',
        fill: 'none',
        stroke: 'currentColor',
        strokeWidth: stroke,
        strokeLinecap: 'round',
        strokeLinejoin: 'round',
      },
      ...paths.map((d) => createElement('path', { d })),
    );
}
