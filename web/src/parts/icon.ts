import { createElement, type ReactNode } from 'react';

/** Makes an icon of the paths of an outline of 24 by 24. `size` and `stroke` are in pixels and in units of the outline. */
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
