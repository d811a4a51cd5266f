import { language } from './preferences.ts';
import { pageAt } from './pages.ts';
import { accessToken } from './session.ts';
import { loadTexts } from '../text/index.ts';

/*
 * Starts early to load the data of every page, while the rest of the dashboard is still being parsed: an access token,
 * the code of this page, and the texts. It imports no slow library. Later requests for the same find it pending or
 * loaded.
 */
const texts = loadTexts(language());
void accessToken().catch(() => undefined);
void pageAt(window.location.pathname)
  ?.load()
  .catch(() => undefined);

/** Settles when the texts of the person's language are loaded. English texts are part of this file. */
export const textsLoaded = texts.catch(() => undefined);
