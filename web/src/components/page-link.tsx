import { Anchor, Button, type AnchorProps, type ButtonProps } from '@mantine/core';
import { Link, useNavigate, type RegisteredRouter } from '@tanstack/react-router';
import type { ReactNode } from 'react';

type Filled<Pattern extends string> = Pattern extends `${infer Before}/$${infer Rest}`
  ? Rest extends `${string}/${infer After}`
    ? `${Before}/${string}/${Filled<After>}`
    : `${Before}/${string}`
  : Pattern;
type Path = Filled<keyof RegisteredRouter['routesByPath']>;
/** URL of a page of the dashboard: its path with the parameters filled in, and possibly a query. */
export type Address = Path | `${Path}?${string}`;

/**
 * Converts a URL to the router's type. The type allows only URL patterns, but the router also accepts URLs whose
 * parameters are filled in.
 */
export const routed = (address: Address) => address as '/';

/** Link to another page of the dashboard. */
export function PageLink({ to, ...props }: AnchorProps & { to: Address; children: ReactNode; title?: string }) {
  return <Anchor component={Link} to={routed(to)} {...props} />;
}

/** Button that opens another page of the dashboard. */
export function PageLinkButton({ to, ...props }: ButtonProps & { to: Address; children: ReactNode }) {
  return <Button component={Link} to={routed(to)} {...props} />;
}

/** Returns a function that navigates to another page of the dashboard. */
export function useGoTo(): (to: Address) => void {
  const navigate = useNavigate();
  return (to) => void navigate({ to: routed(to) });
}
