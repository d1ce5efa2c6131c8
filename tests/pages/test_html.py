"""The file of a page: what is escaped, what the policy allows."""

import base64
import gzip
import hashlib
import json
import re

import pytest

from merge_runner.pages.html import escaped_json, page

HOSTILE = ["</script><script>alert(1)</script>", "<!--", "]]>", "\u2028\u2029", "'\"&", "\ud800", "\x00\x1b[31m"]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_ends_its_block(text):
    written = escaped_json({"name": text})
    assert "<" not in written and "\u2028" not in written
    assert json.loads(written)["name"] == text.replace("\ud800", "?")


def test_a_page_allows_its_own_script_and_style_alone():
    made = page("</title><b>", "project", {"nodes": HOSTILE})
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', made)[1]
    script = re.search(r"<script>(.*?)</script>", made, re.DOTALL)[1]
    style = re.search(r"<style>(.*?)</style>", made, re.DOTALL)[1]
    for name, text in (("script-src", script), ("style-src", style)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert "<title>&lt;/title&gt;&lt;b&gt;</title>" in made
    assert made.index("Content-Security-Policy") < made.index("<title>")


def test_the_front_end_makes_no_html_of_texts_and_loads_nothing():
    script = re.search(r"<script>(.*?)</script>", page("", "project", {}), re.DOTALL)[1]
    assert not re.findall(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|fetch\(|XMLHttp|https?://",
        script,
    )


def test_chunks_are_gzipped_and_equal_values_give_equal_pages():
    made = page("", "project", {}, [{"a": "é"}, gzip.compress(b"[1]", mtime=0)])
    chunks = re.findall(r'<script type="text/plain" id="chunk-(\d)">([^<]*)</script>', made)
    assert [(number, json.loads(gzip.decompress(base64.b64decode(text)))) for number, text in chunks] == [
        ("0", {"a": "é"}),
        ("1", [1]),
    ]
    assert made == page("", "project", {}, [{"a": "é"}, gzip.compress(b"[1]", mtime=0)])
