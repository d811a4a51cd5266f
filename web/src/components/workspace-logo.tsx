import { Avatar } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { dataOf, heron } from '../app/api.ts';

/** Logo of the selected workspace, or its initials. */
export function WorkspaceLogo({
  workspace,
  size,
}: {
  workspace: { id: string; name: string; logo_id: string | null } | undefined;
  size: number;
}) {
  const logo = useQuery({
    queryKey: ['person', 'logo', workspace?.logo_id],
    queryFn: async () => toDataUrl(await dataOf(heron.GET('/v1/organizations/current/logo', { parseAs: 'blob' }))),
    enabled: Boolean(workspace?.logo_id),
    // The logo never becomes stale, because a changed logo has another id.
    staleTime: Infinity,
  });
  return (
    <Avatar
      size={size}
      radius="md"
      color="heron"
      variant="light"
      name={workspace?.name ?? '?'}
      src={workspace?.logo_id ? logo.data : undefined}
      alt=""
    />
  );
}

/** Returns a file as a data URL. The page may show only data URLs and images of the server. */
export function toDataUrl(file: unknown): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error!);
    reader.readAsDataURL(file as Blob);
  });
}
