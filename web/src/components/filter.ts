import { useNavigate, useSearch } from '@tanstack/react-router';

/** Hook for a filter in the URL's query, so that a link reproduces the view. Setting empty text removes the filter. */
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
