import { language } from './preferences.ts';
import { pageAt } from './pages.ts';
import { accessToken } from './session.ts';
import { loadTexts } from '../text/index.ts';

/*
 * What every page waits for, asked for at once, while the rest of the dashboard is still being read: an access token, the code of the page at
 * this address, and the texts. It imports no library that is slow to begin with. Who asks for the same later finds it under way or there.
 */
const texts = loadTexts(language());
void accessToken().catch(() => undefined);
void pageAt(window.location.pathname)
  ?.load()
  .catch(() => undefined);

/** The texts of the person's language are there; English ones are a part of this file. */
export const textsCame = texts.catch(() => undefined);
