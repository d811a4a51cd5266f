import test from 'ava';
import fc from 'fast-check';
import { appendToBody, findHtmlLinks, plainToHtml, replaceLinks } from './html.ts';
import { createLinkRewriter } from './links.ts';
import { findTextLinks } from './text-links.ts';
import { htmlToText } from './to-text.ts';
import { createContentNamer, resolveUtm, tagUrl } from './utm.ts';

const UTM = { source: 'heron', medium: 'email', campaign: 'spring & co' };

test('finds web links in document order with their labels, and nothing else', (t) => {
  const html = `<p><a href="https://a.example/?x=1&amp;y=2"> Read <b>more</b>\n now</a>
    <a href='https://b.example/'><img src=x alt="Logo"></a> <A HREF=https://c.example/z>c</A>
    <a href="#top">top</a><a href="mailto:x@y.z">m</a><a href="tel:+1">t</a><a href="/rel">r</a><a name="n">n</a>
    <a href="https://">broken</a><map><area href="http://d.example"></map>
    <!-- <a href="https://comment.example">x</a> --></p>`;
  t.deepEqual(
    findHtmlLinks(html).map(({ url, label }) => [url, label]),
    [
      ['https://a.example/?x=1&y=2', 'Read more now'],
      ['https://b.example/', 'Logo'],
      ['https://c.example/z', 'c'],
      ['http://d.example', ''],
    ],
  );
});

test('places are right after line endings, astral characters and repeated attributes', (t) => {
  const html = '<p>é🙂\r\n</p>\r<a class="🙂"\r\n href="https://a.example" href="https://no.example">A\r\n🙂</a>';
  const links = findHtmlLinks(html);
  t.deepEqual(
    links.map(({ url, label, start, end }) => [url, label, html.slice(start, end)]),
    [['https://a.example', 'A 🙂', 'href="https://a.example"']],
  );
});

test('what only looks like a link is none', (t) => {
  t.deepEqual(
    findHtmlLinks(
      '<title><a href="https://a.example">x</a></title><style>/*<a href="https://b.example">*/</style>' +
        '<script>"<a href=https://c.example>"</script><textarea><a href="https://d.example"></textarea>',
    ),
    [],
  );
});

test('hostile markup is handled without deep recursion or a tree', (t) => {
  const wild = Array.from({ length: 20_000 }, (_, index) => `<p><b a${index}>`).join('');
  t.is(findHtmlLinks(`<a href="https://a.example">${wild}`).length, 1);
  for (const unit of ['<div>', '<b>', '<a href=https://x.example>', '<table><tr><td>', '<ul><li>']) {
    t.notThrows(() => htmlToText(unit.repeat(20_000)), unit);
  }
});

test('badly nested markup yields each link once', (t) => {
  const html = '<a href="https://a.example"><table><tr><td><a href="https://b.example">x</td></tr></table><p>y</a><b>';
  t.deepEqual(
    findHtmlLinks(html).map(({ url }) => url),
    ['https://a.example', 'https://b.example'],
  );
});

test('rewriting replaces the attribute only; every other byte stays', (t) => {
  const html =
    '<P Class=x>a&nbsp;<a  title="t"   HREF = \'https://a.example\' >A</a><br/><a href=https://b.example>B</a>';
  const links = findHtmlLinks(html);
  t.is(
    replaceLinks(html, links, ['https://t.example/?a=1&b="', undefined], 'html'),
    '<P Class=x>a&nbsp;<a  title="t"   href="https://t.example/?a=1&amp;b=&quot;" >A</a><br/><a href=https://b.example>B</a>',
  );
});

test('finds URLs in plain text without the punctuation around them', (t) => {
  const text =
    'See https://a.example/x, (https://b.example/w_(b)) [http://c.example] <https://d.example>. ' +
    '"https://e.example/?q=1!" and HTTPS://F.example/_-~ ftp://no xhttps://no.example https://';
  t.deepEqual(
    findTextLinks(text).map(({ url }) => url),
    [
      'https://a.example/x',
      'https://b.example/w_(b)',
      'http://c.example',
      'https://d.example',
      'https://e.example/?q=1',
      'HTTPS://F.example/_-~',
    ],
  );
});

test('rewriting keeps the number of links, whatever surrounds them', (t) => {
  const noise = fc
    .array(fc.constantFrom('<p>', '</p>', '<b>', '</b>', '<div>', '</div>', 'text ', '<br>', '<ul><li>', '</ul>'))
    .map((parts) => parts.join(''));
  const link = fc
    .tuple(fc.webUrl({ withQueryParameters: true, withFragments: true }), noise)
    .map(([url, label]) => `<a href="${url.replaceAll('&', '&amp;').replaceAll('"', '%22')}">${label}</a>`);
  const document = fc.array(fc.oneof(noise, link), { maxLength: 8 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(document, (html) => {
      const links = findHtmlLinks(html);
      const urls = links.map((_link, index) => `https://t.example/c/${index}`);
      const rewritten = findHtmlLinks(replaceLinks(html, links, urls, 'html'));
      return (
        links.length === (html.match(/<a /g)?.length ?? 0) &&
        rewritten.length === links.length &&
        rewritten.every(({ url, label }, index) => url === urls[index] && label === links[index]!.label)
      );
    }),
  );
  t.pass();
});

test('a fragment goes to the end of the body', (t) => {
  t.is(appendToBody('<html><body>a</BODY ></html>', 'X'), '<html><body>aX</BODY ></html>');
  t.is(appendToBody('<html>a</html>', 'X'), '<html>aX</html>');
  t.is(appendToBody('<p>a</p>', 'X'), '<p>a</p>X');
});

test('HTML to text keeps links and case, text to HTML escapes and links', (t) => {
  t.is(
    htmlToText('<h1>Hi Ada</h1><p>A &amp; B <a href="https://a.example">here</a><img src="x" alt="no"></p><p>2</p>'),
    'Hi Ada\n\nA & B here <https://a.example>\n\n2',
  );
  t.is(
    plainToHtml('Hi <Ada>,\r\nline https://a.example/?x=1&y=2.\r\n \r\n\r\nbye'),
    '<p>Hi &lt;Ada&gt;,<br>\nline <a href="https://a.example/?x=1&amp;y=2">https://a.example/?x=1&amp;y=2</a>.</p>\n<p>bye</p>',
  );
});

const TAGGED: readonly [url: string, tagged: string][] = [
  [
    'https://a.example',
    'https://a.example?utm_source=heron&utm_medium=email&utm_campaign=spring%20%26%20co&utm_content=c',
  ],
  [
    'https://a.example/?',
    'https://a.example/?utm_source=heron&utm_medium=email&utm_campaign=spring%20%26%20co&utm_content=c',
  ],
  [
    'https://a.example/?b=%20+&#f?x',
    'https://a.example/?b=%20+&utm_source=heron&utm_medium=email&utm_campaign=spring%20%26%20co&utm_content=c#f?x',
  ],
  [
    'http://a.example/?UTM_Source=x&utm_content=',
    'http://a.example/?UTM_Source=x&utm_content=&utm_medium=email&utm_campaign=spring%20%26%20co',
  ],
  ['mailto:a@b.example', 'mailto:a@b.example'],
];

for (const [url, tagged] of TAGGED) {
  test(`tags ${url}`, (t) => {
    t.is(tagUrl(url, UTM, 'c'), tagged);
  });
}

test('tagging twice changes nothing, and keeps every other parameter and the fragment', (t) => {
  const url = fc.webUrl({ withQueryParameters: true, withFragments: true });
  fc.assert(
    fc.property(url, fc.string({ unit: 'binary' }), (address, content) => {
      const tagged = tagUrl(address, UTM, content);
      const [before, after] = [new URL(address), new URL(tagged)];
      const kept = [...after.searchParams].filter(([name]) => !name.startsWith('utm_'));
      return (
        tagUrl(tagged, UTM, `${content}2`) === tagged &&
        JSON.stringify(kept) ===
          JSON.stringify([...before.searchParams].filter(([name]) => !name.startsWith('utm_'))) &&
        after.hash === before.hash &&
        after.pathname === before.pathname &&
        after.host === before.host
      );
    }),
  );
  t.pass();
});

test("UTM defaults: service name, email, the campaign's slug", (t) => {
  t.deepEqual(resolveUtm({}, 'Été 2024: Größe & more!'), {
    source: 'heron',
    medium: 'email',
    campaign: 'ete-2024-große-more',
  });
  t.deepEqual(resolveUtm({ source: ' ', medium: null, campaign: '' }, '***'), {
    source: 'heron',
    medium: 'email',
    campaign: 'campaign',
  });
  t.deepEqual(resolveUtm({ source: 's', medium: 'm', campaign: 'C' }, 'x'), {
    source: 's',
    medium: 'm',
    campaign: 'C',
  });
});

test('content names are unique', (t) => {
  const name = createContentNamer();
  t.deepEqual(
    [name('Read more', 1), name('', 2), name('read MORE!', 3), name('read more 2', 4), name('Read more', 5)],
    ['read-more', 'link-2', 'read-more-2', 'read-more-2-2', 'read-more-3'],
  );
});

test('a link in both parts is one link with one ticket; links that are tracked already are left alone', (t) => {
  const rewriter = createLinkRewriter({
    tracking: { base: 'https://t.example', ticketId: (index) => `k${index}` },
  });
  t.is(
    rewriter.rewriteHtml(
      '<a href="https://a.example">A</a><a href="https://a.example">again</a><a href="https://t.example/c/old">tracked</a>',
    ),
    '<a href="https://t.example/c/k0">A</a><a href="https://t.example/c/k1">again</a>' +
      '<a href="https://t.example/c/old">tracked</a>',
  );
  t.is(
    rewriter.rewriteText(
      'https://a.example https://t.example/c/old https://a.example https://a.example https://b.example',
    ),
    'https://t.example/c/k0 https://t.example/c/old https://t.example/c/k1 https://t.example/c/k2 https://t.example/c/k3',
  );
  t.deepEqual(rewriter.links, [
    { ticketId: 'k0', url: 'https://a.example', label: 'A', position: 1 },
    { ticketId: 'k1', url: 'https://a.example', label: 'again', position: 2 },
    { ticketId: 'k2', url: 'https://a.example', label: '', position: 3 },
    { ticketId: 'k3', url: 'https://b.example', label: '', position: 4 },
  ]);
});
