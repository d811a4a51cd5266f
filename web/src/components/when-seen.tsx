import { useEffect, useRef, useState, type ReactNode } from 'react';

/** Distance below the visible part of the page at which a part begins to load. */
const MARGIN = '200px';

/** Part below the others, which is rendered once it is near the visible part of the page. */
export function WhenSeen({ height, children }: { height: number; children: ReactNode }) {
  const [wasSeen, see] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!place.current) return undefined;
    const observer = new IntersectionObserver(([entry]) => see(entry!.isIntersecting), { rootMargin: MARGIN });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [wasSeen]);
  return wasSeen ? children : <div ref={place} style={{ height }} />;
}
