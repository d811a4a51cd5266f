import { useNavigate, useSearch } from '@tanstack/react-router';

/** Filter in the address, so that a link reproduces the view. Empty text removes it. */
export function useFilter(name: string): [value: string, set: (value: string) => void] {
  const search = useSearch({ strict: false }) as Record<string, string | undefined>;
  const navigate = useNavigate();
  return [
    search[name] ?? '',
    (value) =>
      void navigate({
        to: '.',
        search: (before: Record<string, string | undefined>) => ({ ...before, [name]: value || undefined }),
        replace: true,
      } as Parameters<typeof navigate>[0]),
  ];
}
