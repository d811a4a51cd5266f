import { notifications } from '@mantine/notifications';
import { useMutation, type UseMutationResult } from '@tanstack/react-query';
import { queryClient } from '../app/api.ts';
import type { Key } from '../app/query-keys.ts';
import { restoreFocus, useFocusReturn } from './focus.ts';
import { errorTexts } from './states.tsx';

/**
 * Hook for an action of the person. Takes the call, the query keys to refetch and the success message. Errors are shown
 * as notifications. With `isShown` they are not, because the page shows them itself.
 */
export function useAction<Input = void, Output = unknown>(
  call: (input: Input) => Promise<Output>,
  options: {
    stale?: readonly Key[];
    done?: string;
    isShown?: boolean;
    onDone?: (output: Output, input: Input) => void;
  } = {},
): UseMutationResult<Output, unknown, Input> {
  const mutation = useMutation({
    mutationFn: call,
    onSuccess: async (output, input) => {
      if (options.done) notifications.show({ message: options.done, color: 'teal', autoClose: 4_000 });
      options.onDone?.(output, input);
      await Promise.all((options.stale ?? []).map((queryKey) => queryClient.invalidateQueries({ queryKey })));
    },
    onError: (error) => {
      if (!options.isShown) showError(error);
    },
  });
  useFocusReturn(mutation.isPending, restoreFocus);
  return mutation;
}

/** Shows an error with its fix as a notification. */
export function showError(error: unknown): void {
  const { message, problems, fix } = errorTexts(error);
  notifications.show({
    color: 'red',
    title: message,
    message: [...problems.map((one) => `${one.path.replace(/^body\./, '')} ${one.message}`), fix]
      .filter(Boolean)
      .join('. '),
    autoClose: 10_000,
  });
}
