import { Box } from '@mantine/core';
import { useIntersection } from '@mantine/hooks';
import { useEffect, useState, type ReactNode } from 'react';

/** Distance (px) below the visible part of the page at which a part begins to load. */
const MARGIN = '200px';

/** Part below the others, which is rendered once it is near the visible part of the page. */
export function WhenSeen({ height, children }: { height: number; children: ReactNode }) {
  const [wasSeen, see] = useState(false);
  const { ref, entry } = useIntersection({ rootMargin: MARGIN });
  useEffect(() => {
    if (entry?.isIntersecting) see(true);
  }, [entry?.isIntersecting]);
  return wasSeen ? children : <Box ref={ref} h={height} />;
}
