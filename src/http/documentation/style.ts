// The style of /docs: narrow and wide screens, light and dark ones, and paper.

export const style = `
:root { color-scheme: light dark; --text: light-dark(#1b1f24, #e3e6ea); --soft: light-dark(#57606a, #9aa4ae);
  --page: light-dark(#fff, #14171a); --code: light-dark(#f4f5f7, #1f2429); --line: light-dark(#d7dbe0, #343b42);
  --link: light-dark(#0a58ca, #7ab7ff); --read: light-dark(#0b6b50, #56c596); --write: light-dark(#8a4b00, #f0b35b); }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0 auto; padding: 1rem; max-width: 56rem; background: var(--page); color: var(--text);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: break-word; }
a { color: var(--link); }
h1 { margin: 0 0 .5rem; font-size: 1.7rem; line-height: 1.2; }
h2 { margin: 3rem 0 .5rem; padding-top: 1rem; border-top: 2px solid var(--line); font-size: 1.35rem; }
h3 { margin: 2.5rem 0 .25rem; font-size: 1.1rem; }
h4 { margin: 1.25rem 0 .25rem; font-size: .95rem; }
p { margin: .5rem 0; }
code, pre { font: .875em/1.5 ui-monospace, "Liberation Mono", Menlo, Consolas, monospace; }
code { overflow-wrap: anywhere; }
pre { margin: .5rem 0; padding: .75rem; overflow-x: auto; border-radius: 4px; background: var(--code); tab-size: 2; }
ul, dl { margin: .5rem 0; }
ul { padding-left: 1.25rem; }
dt { margin-top: .5rem; }
dd { margin: 0 0 0 1rem; }
dd dl { padding-left: .75rem; border-left: 2px solid var(--line); }
.type, .soft { color: var(--soft); }
.type { font-size: .9em; }
.method { font-weight: 700; color: var(--read); }
.method.write { color: var(--write); }
nav ul { columns: 17rem; padding: 0; list-style: none; }
nav > ul > li { break-inside: avoid; margin-bottom: .75rem; }
nav ul ul { columns: 1; margin: 0; }
nav ul ul li { padding-left: .75rem; }
@media (max-width: 30rem) {
  body { padding: .75rem; }
  h2 { margin-top: 2rem; }
  pre { font-size: .8rem; white-space: pre-wrap; overflow-wrap: anywhere; }
}
@media print {
  :root { color-scheme: light; }
  body { max-width: none; padding: 0; font-size: 9.5pt; }
  a { color: inherit; text-decoration: none; }
  h2, h3, h4, dt { break-after: avoid; }
  h2.group { break-before: page; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid var(--line); }
  dt, .refusals li { break-inside: avoid; }
}
`;
