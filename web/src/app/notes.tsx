import { useNotifications } from '@mantine/notifications';
import { lazy, Suspense, useRef } from 'react';

const Corner = lazy(() => import('./corner.tsx'));

/** What was done, and what went wrong, in the corner; what shows it is loaded with the first note. */
export function Notes() {
  const { notifications } = useNotifications();
  const isUsed = useRef(false);
  isUsed.current ||= notifications.length > 0;
  return isUsed.current ? (
    <Suspense fallback={null}>
      <Corner />
    </Suspense>
  ) : null;
}
