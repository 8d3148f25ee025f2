"""The style sheet of the HTML report: light and dark, contrast of 7:1 and more for text, readable in print."""

from __future__ import annotations

from typing import Final

STYLE: Final = """\
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --soft: #59636e; --line: #c8ced5; --tint: #f3f5f7;
  --bad: #8f1d1d; --warn: #6b4700; --good: #0f5323; --none: #444c56; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ecf0; --paper: #14181d; --soft: #aab4be; --line: #3d4650;
  --tint: #1e242b; --bad: #ffa8a0; --warn: #f0c674; --good: #8ddba0; --none: #b7c0c9; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 70rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; margin: 0; }
h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
header p { margin: .25rem 0 0; color: var(--soft); }
code { font-family: ui-monospace, monospace; font-size: .9em; }
section { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left; vertical-align: top; }
th { font-weight: normal; }
thead th { background: var(--tint); font-weight: 600; }
td p, th p { margin: .2rem 0 0; color: var(--soft); }
ul { margin: 0; padding-left: 0; list-style: none; }
details { border: 1px solid var(--line); border-left: .4rem solid var(--none); border-radius: .3rem; margin: .5rem 0;
  padding: .4rem .8rem; }
details.fail, details.error { border-left-color: var(--bad); }
details.advisory { border-left-color: var(--warn); }
details.pass { border-left-color: var(--good); }
summary { cursor: pointer; }
summary:focus-visible { outline: .15rem solid currentColor; outline-offset: .2rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .5rem 0; }
dt { color: var(--soft); }
dd { margin: 0; white-space: pre-wrap; }
ol { margin: .5rem 0; padding-left: 1.6rem; }
li p { margin: .1rem 0; white-space: pre-wrap; }
.badge { display: inline-block; border: 1px solid currentColor; border-radius: .3rem; padding: 0 .4rem;
  font-weight: 600; color: var(--none); white-space: nowrap; }
.badge.fail, .badge.error { color: var(--bad); }
.badge.advisory { color: var(--warn); }
.badge.pass { color: var(--good); }
.fix { border-left: .2rem solid var(--line); padding-left: .6rem; }
.stopped { border: 2px solid var(--bad); padding: .5rem .8rem; font-weight: 600; }
@media print { body { max-width: none; padding: 0; } details { break-inside: avoid; } }
"""
