/** Reads a value that the server has written into a meta element of the page. */
function meta(name: string): string {
  const content = document.querySelector<HTMLMetaElement>(`meta[name="heron-${name}"]`)?.content ?? '';
  return content.startsWith('%') ? '' : content;
}

/** Nonce that allows styles created by libraries at run time; undefined under the development server. */
export const STYLE_NONCE = meta('nonce') || undefined;
/** URL of the event stream; empty under the development server. */
export const REALTIME_URL = meta('realtime');
