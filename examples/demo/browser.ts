/** Minimal browser for Heron's pages without scripts: cookies, redirects, and forms with their current values. */
export interface Browser {
  /** HTML of the current page. */
  readonly page: string;
  /** Submits the form that contains a field of this name, with these values replaced. */
  submit(field: string, values: Record<string, string>): Promise<void>;
}

/** Opens a page and signs in on it. */
export async function signIn(
  origin: string,
  path: string,
  { email, password }: { email: string; password: string },
): Promise<Browser> {
  const cookies = new Map<string, string>();
  let page = '';
  const visit = async (to: string, body?: URLSearchParams): Promise<void> => {
    const response = await fetch(new URL(to, origin), {
      method: body ? 'POST' : 'GET',
      redirect: 'manual',
      headers: {
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(body ? { origin, 'sec-fetch-site': 'same-origin' } : {}),
      },
      ...(body ? { body } : {}),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      cookies.set(name!, value!);
    }
    const next = response.headers.get('location');
    if (next) return visit(next);
    page = await response.text();
    if (!response.ok) throw new Error(`${to} answered ${response.status}`);
  };
  const browser: Browser = {
    get page() {
      return page;
    },
    async submit(field, values) {
      const form = [...page.matchAll(/<form[^>]+action="([^"]+)"[^>]*>([\s\S]*?)<\/form>/g)].find(([, , fields]) =>
        fields!.includes(`name="${field}"`),
      );
      if (!form) throw new Error(`the page has no form with ${field}`);
      const [, action, fields] = form;
      const hidden = [...fields!.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
      const sent = new URLSearchParams(
        hidden.map(([, name, value]): [string, string] => [name!, value!.replaceAll('&amp;', '&')]),
      );
      for (const [name, value] of Object.entries(values)) sent.set(name, value);
      await visit(action!.replaceAll('&amp;', '&'), sent);
    },
  };
  await visit(path);
  await browser.submit('password', { email, password });
  return browser;
}
