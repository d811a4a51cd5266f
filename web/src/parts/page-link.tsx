import { Anchor, Button, type AnchorProps, type ButtonProps } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** Link to another page of the dashboard, by its address. */
export function PageLink({ to, ...props }: AnchorProps & { to: string; children: ReactNode; title?: string }) {
  return <Anchor component={Link} to={to as never} {...props} />;
}

/** Button that leads to another page of the dashboard. */
export function PageLinkButton({ to, ...props }: ButtonProps & { to: string; children: ReactNode }) {
  return <Button component={Link} to={to as never} {...props} />;
}

/** Returns a function that navigates to another page of the dashboard. */
export function useGoTo(): (to: string) => void {
  const navigate = useNavigate();
  return (to) => void navigate({ to: to as never });
}
