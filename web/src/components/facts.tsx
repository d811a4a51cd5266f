import { Text } from '@mantine/core';
import { Fragment, type ReactNode } from 'react';

/** Lists names and values below each other. Rows without a value are omitted. */
export function Facts({ rows }: { rows: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {rows
        .filter(([, value]) => value !== undefined && value !== null && value !== '')
        .map(([name, value]) => (
          <Fragment key={name}>
            <Text component="dt" size="sm" c="dimmed">
              {name}
            </Text>
            <Text component="dd" size="sm" className="wrap-anywhere">
              {value}
            </Text>
          </Fragment>
        ))}
    </dl>
  );
}
