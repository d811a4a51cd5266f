import { language } from './preferences.ts';
import { pageAt } from './pages.ts';
import { accessToken } from './session.ts';
import { loadTexts } from '../text/index.ts';

/**
 * Starts to load an access token, the page's code and the texts while the rest of the dashboard is still being parsed.
 * This file must not import large libraries. Later requests for these parts share the pending or finished result.
 */
const texts = loadTexts(language());
void accessToken().catch(() => undefined);
void pageAt(window.location.pathname)
  ?.load()
  .catch(() => undefined);

/** Settles when the texts of the person's language are loaded. English texts are part of this file. */
export const textsLoaded = texts.catch(() => undefined);
