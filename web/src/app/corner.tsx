import { Notifications } from '@mantine/notifications';

/** Where notes appear. */
export default function Corner() {
  return <Notifications position="bottom-right" limit={4} />;
}
