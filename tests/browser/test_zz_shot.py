import pytest
from tests.browser.test_accessible import *
def test_shot(window,pool,lead):
    window.context.set_extra_http_headers({"accept-language":"fr"})
    for name,a in {"home":"/","judge":f"/pools/{pool.slug}/judge/","pool":f"/pools/{pool.slug}/"}.items():
        window.page.goto(a)
        for w,h in ((1280,840),(360,740)):
            window.size(w,h); window.page.screenshot(path=f"/tmp/fr-{name}-{w}.png")
