/** Style sheet of the pages. It is inlined, and the content security policy allows it by its hash. */
export const STYLE = `
:root{color-scheme:light dark;--bg:#f3f5f8;--card:#fff;--text:#16202c;--soft:#566578;--line:#d9e0e8;--brand:#1c5fb8;--brand-text:#fff;
--brand-soft:#e8f0fb;--warn:#8a5200;--warn-bg:#fff4e0;--warn-line:#f0cf94;--bad:#a61b1b;--bad-bg:#fdeceb;--bad-line:#f2bcb8;--good:#17663a;--good-bg:#e7f6ed;--good-line:#b0dcc2;
--focus:#f0a400}
@media(prefers-color-scheme:dark){:root{--bg:#0f141a;--card:#18202a;--text:#e6ecf3;--soft:#9dadbf;--line:#2d3947;--brand:#5b9bf0;--brand-text:#08121f;
--brand-soft:#1b2c44;--warn:#f3c57a;--warn-bg:#33270f;--warn-line:#5f4819;--bad:#ffaea6;--bad-bg:#3a1716;--bad-line:#6d2b28;--good:#8fdcae;--good-bg:#12301f;--good-line:#25573a}}
*{box-sizing:border-box}
body{margin:0;padding:0 1rem 3rem;background:var(--bg);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
header.top,main{max-width:31rem;margin:0 auto}
body.wide header.top,body.wide main{max-width:46rem}
header.top{display:flex;align-items:center;gap:.6rem;padding:2rem .25rem 1rem;font-weight:650;font-size:1.1rem;letter-spacing:.01em}
header.top svg{width:1.9rem;height:1.9rem;color:var(--brand)}
header.top form{margin-left:auto}
main{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:1.75rem;box-shadow:0 1px 2px rgb(16 32 48/.05),0 8px 24px rgb(16 32 48/.06)}
h1{font-size:1.4rem;line-height:1.25;margin:0 0 .5rem;letter-spacing:-.01em}
h2{font-size:.95rem;margin:0 0 .4rem}
p{margin:.4rem 0 .9rem}
.soft{color:var(--soft);font-size:.92rem}
a{color:var(--brand);text-underline-offset:.15em}
code{font:.86em ui-monospace,SFMono-Regular,Menlo,monospace;color:var(--soft)}
label.field{display:block;margin:1rem 0 0;font-weight:600;font-size:.95rem}
input.text,select{display:block;width:100%;margin-top:.3rem;padding:.65rem .75rem;font:inherit;font-weight:400;color:inherit;background:var(--bg);border:1px solid var(--line);border-radius:9px}
input.code{font:600 1.35rem/1.3 ui-monospace,SFMono-Regular,Menlo,monospace;letter-spacing:.35em;text-align:center}
input.text:user-invalid{border-color:var(--bad)}
button,a.button{display:inline-block;font:inherit;font-weight:600;padding:.65rem 1.15rem;border-radius:9px;border:1px solid var(--line);background:var(--card);color:var(--text);cursor:pointer;text-decoration:none;text-align:center}
button:hover,a.button:hover{border-color:var(--soft)}
button.main,a.button.main{background:var(--brand);border-color:var(--brand);color:var(--brand-text)}
button.main:hover,a.button.main:hover{filter:brightness(1.08)}
button.wide{width:100%;margin-top:1.4rem}
button.danger{color:var(--bad);border-color:var(--bad-line)}
button.link{padding:0;border:0;background:none;color:var(--brand);font-weight:500;font-size:.92rem;text-decoration:underline;text-underline-offset:.15em}
button.quiet{padding:.35rem .8rem;font-size:.9rem;font-weight:500}
:is(button,a,input,select,textarea,iframe,summary):focus-visible{outline:3px solid var(--focus);outline-offset:2px}
.note{border:1px solid var(--line);border-radius:10px;padding:.7rem .9rem;margin:.9rem 0;font-size:.94rem}
.note>:first-child{margin-top:0}.note>:last-child{margin-bottom:0}
.note.bad{color:var(--bad);background:var(--bad-bg);border-color:var(--bad-line)}
.note.warn{color:var(--warn);background:var(--warn-bg);border-color:var(--warn-line)}
.note.good{color:var(--good);background:var(--good-bg);border-color:var(--good-line)}
.app{display:flex;gap:1rem;align-items:flex-start;margin-bottom:1rem}
.about{min-width:0;flex:1}
.app h1{margin:0 0 .15rem}.app p{margin:.15rem 0}
.logo{flex:none;width:3.25rem;height:3.25rem;border-radius:12px;display:grid;place-items:center;background:var(--brand-soft);color:var(--brand);font-size:1.5rem;font-weight:700;overflow:hidden}
.logo img{width:100%;height:100%;object-fit:contain}.logo:has(img){background:#fff;border:1px solid var(--line)}
.row{display:flex;gap:.6rem;align-items:flex-end;margin:.9rem 0}.row>label{flex:1;margin-top:0}.row>button{padding-block:.58rem}
.who{display:flex;flex-wrap:wrap;gap:.1rem .8rem;align-items:baseline;justify-content:space-between;border-top:1px solid var(--line);margin-top:1.3rem;padding-top:.9rem}
.who p{margin:0}
fieldset{border:0;margin:1.3rem 0 0;padding:0;min-width:0}
legend{padding:0;font-weight:650;font-size:.95rem;margin-bottom:.35rem}
ul.scopes{list-style:none;margin:0;padding:0;border:1px solid var(--line);border-radius:10px}
ul.scopes li+li{border-top:1px solid var(--line)}
ul.scopes label{display:flex;gap:.7rem;align-items:flex-start;padding:.6rem .8rem;cursor:pointer}
ul.scopes input{flex:none;width:1.1rem;height:1.1rem;margin:.2rem 0 0;accent-color:var(--brand)}
ul.scopes li.off label{cursor:default;color:var(--soft)}
.mark{display:inline-block;padding:0 .45rem;border-radius:99px;font-size:.78rem;font-weight:600;white-space:nowrap;color:var(--warn);background:var(--warn-bg);border:1px solid var(--warn-line)}
.actions{display:flex;gap:.7rem;margin-top:1.5rem}.actions>*{flex:1}
ul.apps{list-style:none;margin:1rem 0 0;padding:0}
ul.apps>li{border-top:1px solid var(--line);padding:1.1rem 0}
ul.apps>li:last-child{padding-bottom:0}
ul.apps .app{margin:0}
ul.apps .logo{width:2.6rem;height:2.6rem;font-size:1.15rem}
pre{margin:.5rem 0 .9rem;padding:.75rem .9rem;border:1px solid var(--line);border-radius:9px;background:var(--bg);font:.84rem/1.5 ui-monospace,SFMono-Regular,Menlo,monospace;white-space:pre-wrap}
pre code{color:inherit;font-size:1em}
p.key{margin:.6rem 0;padding:.75rem .9rem;border-radius:9px;border:1px solid var(--good-line);background:var(--good-bg)}p.key code{color:var(--text);font-size:.95rem;user-select:all}
dl.places{display:grid;grid-template-columns:max-content 1fr;gap:.35rem 1rem;margin:.5rem 0 1rem}dl.places dt{color:var(--soft)}dl.places dd{margin:0}
ol.next{margin:.5rem 0 0;padding-left:1.2rem}h2.part{margin:1.6rem 0 .4rem;font-size:1.05rem}
details{margin:.3rem 0}summary{cursor:pointer;color:var(--soft);font-size:.92rem}
details ul{margin:.4rem 0;padding-left:1.2rem;font-size:.92rem}
textarea.text{display:block;width:100%;margin-top:.3rem;padding:.65rem .75rem;font:inherit;color:inherit;background:var(--bg);border:1px solid var(--line);border-radius:9px;resize:vertical}
iframe.email{display:block;width:100%;height:22rem;margin:.5rem 0 .9rem;border:1px solid var(--line);border-radius:9px;background:#fff}
ul.plain{margin:.3rem 0;padding-left:1.2rem}
@media(max-width:30rem){dl.places{grid-template-columns:1fr;gap:0}dl.places dd{margin-bottom:.6rem}main{padding:1.25rem}.actions{flex-direction:column}ul.apps .app{flex-wrap:wrap}}
@media(prefers-reduced-motion:no-preference){button,a.button{transition:filter .12s,border-color .12s}}
`;
