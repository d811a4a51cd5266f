/** What the server writes into the page for this installation. */
function meta(name: string): string {
  const content = document.querySelector<HTMLMetaElement>(`meta[name="heron-${name}"]`)?.content ?? '';
  return content.startsWith('%') ? '' : content;
}

/** Lets in the styles that libraries make while they run; undefined under the development server. */
export const STYLE_NONCE = meta('nonce') || undefined;
/** Address of the event stream; empty under the development server. */
export const REALTIME_URL = meta('realtime');
