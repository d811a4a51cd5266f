import { textsLoaded } from './app/first.ts';
import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './app/style.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './app/api.ts';
import { STYLE_NONCE } from './app/meta.ts';
import { Notes } from './app/notes.tsx';
import { language, usePreferences } from './app/preferences.ts';
import { router } from './app/router.tsx';
import { resolveVariables, themeOf } from './app/theme.ts';

const nonce = STYLE_NONCE;
if (nonce) setNonce(nonce);
document.documentElement.lang = language();

function App() {
  const preferences = usePreferences();
  return (
    <MantineProvider
      theme={themeOf(preferences)}
      defaultColorScheme="auto"
      cssVariablesResolver={resolveVariables}
      {...(nonce ? { getStyleNonce: () => nonce } : {})}
    >
      <QueryClientProvider client={queryClient}>
        <Notes />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  );
}

// Until all parts are loaded, the page shows its skeleton (index.html). It is then rendered only once, so that its
// layout does not shift.
void Promise.all([textsLoaded, router.load()]).then(() =>
  createRoot(document.getElementById('root')!).render(
    <StrictMode>
      <App />
    </StrictMode>,
  ),
);
