import { language } from './preferences.ts';
import { pageAt } from './pages.ts';
import { personQuery } from './person.ts';
import { queryClient } from './api.ts';
import { loadTexts } from '../text/index.ts';

/*
 * What every page waits for, asked for at once and before anything else of the dashboard runs: who is here, the code of the page at this
 * address, and the texts. The router asks for the same, and finds it under way or there.
 */
const texts = loadTexts(language());
void queryClient.prefetchQuery(personQuery);
void pageAt(window.location.pathname)
  ?.load()
  .catch(() => undefined);

/** The texts of the person's language are there; English ones are a part of this file. */
export const textsCame = texts.catch(() => undefined);
