import { Badge } from '@mantine/core';
import { useText } from '../../text/index.ts';

const COLORS = { queued: 'gray', running: 'blue', completed: 'teal', failed: 'red', cancelled: 'yellow' } as const;

/** Shows the status of an import. */
export function ImportStatus({ status }: { status: keyof typeof COLORS }) {
  const t = useText();
  return (
    <Badge variant="light" color={COLORS[status]} tt="none">
      {t(`leads.imports.state.${status}`)}
    </Badge>
  );
}
