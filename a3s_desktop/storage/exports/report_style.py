"""How the report looks: light and dark, and on paper."""

STYLE = """\
:root {
  color-scheme: light dark;
  --text: #1c2430; --soft: #5a6675; --line: #d5dbe3; --back: #ffffff; --card: #f5f7fa; --a: #1f5fbf; --b: #b3541e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e6eaf0; --soft: #9aa7b8; --line: #39424f; --back: #14181e; --card: #1d232c; --a: #7db0ff; --b: #f0a070;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 76rem; padding: 2rem 1.5rem 4rem; background: var(--back); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif;
}
h1 { font-size: 1.8rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .75rem; }
h3 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; }
.soft { color: var(--soft); }
.facts { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.5rem 0; }
.facts div { background: var(--card); border-radius: 8px; padding: .75rem 1.1rem; min-width: 8rem; }
.facts b { display: block; font-size: 1.5rem; line-height: 1.2; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: .2rem 1.5rem .2rem 0; vertical-align: top; overflow-wrap: anywhere; }
th { font-weight: 500; color: var(--soft); }
.cluster { border-top: 1px solid var(--line); padding: 1rem 0; }
.cluster p { margin: .1rem 0 .6rem; font-size: .9rem; }
.row { display: flex; flex-wrap: wrap; gap: 6px; }
.row figure { margin: 0; width: 128px; }
.row .pic {
  width: 128px; height: 128px; border-radius: 6px; background: var(--card); overflow: hidden;
  display: flex; align-items: center; justify-content: center;
}
.row img { max-width: 128px; max-height: 128px; display: block; }
figcaption { font-size: .72rem; color: var(--soft); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.none { font-size: .75rem; color: var(--soft); padding: .5rem; text-align: center; }
svg { max-width: 100%; height: auto; background: var(--card); border-radius: 8px; color: var(--soft); }
svg text { fill: currentColor; font: 13px system-ui, sans-serif; }
.line-a { stroke: var(--a); } .line-b { stroke: var(--b); }
svg .text-a { fill: var(--a); } svg .text-b { fill: var(--b); }
@media print { .cluster { break-inside: avoid; } }
"""
