import { useNotifications } from '@mantine/notifications';
import { lazy, Suspense, useRef } from 'react';

const Corner = lazy(() => import('./corner.tsx'));

/** Shows results and errors as notifications. The component that renders them is loaded with the first one. */
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
