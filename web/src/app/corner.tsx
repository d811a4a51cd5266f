import { Notifications } from '@mantine/notifications';

/** Shows the notifications in a corner of the page. */
export default function Corner() {
  return <Notifications position="bottom-right" limit={4} />;
}
