"""Charts that come to life where scripts run: the drawing, its specification, and a page that forbids all else."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from skillshift_frames.render.charts.theme import vl_convert

if TYPE_CHECKING:
    from collections.abc import Sequence


def policy_html(scripts: Sequence[str] = ()) -> str:
    """Write what a page's head says of itself: no request, and no script but the given ones, known by their digests.

    A label that got past the escaping would still not run.

    Examples
    --------
    >>> print(policy_html().split("; ")[0])
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'
    """
    policy = {
        "default-src": "'none'",
        "style-src": "'unsafe-inline'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    if scripts:
        policy["script-src"] = " ".join(map(_digest, scripts))
    said = "; ".join(f"{what} {where}" for what, where in policy.items())
    # Without an icon of its own, a browser asks the server for one.
    return (
        f'<meta http-equiv="Content-Security-Policy" content="{said}">\n'
        '<link rel="icon" href="data:,">'
    )


def scripts_html(scripts: Sequence[str]) -> str:
    """Put scripts on a page; none of them may hold what ends a script."""
    return "".join(f"<script>{script}</script>\n" for script in scripts)


def live_scripts() -> list[str]:
    """Give what brings every ``figure[data-chart]`` of a page to life: Vega, Vega-Lite and Vega-Embed, and who calls them."""
    bundle = str(vl_convert().javascript_bundle())
    # Nothing in a script may end it.
    bundle = bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    own = files("skillshift_frames.render.charts").joinpath("live.js")
    return [bundle, own.read_text(encoding="utf-8")]


def specification_html(spec: Any) -> str:  # noqa: ANN401 - whatever JSON takes
    """Put a specification beside its drawing, as data that a script reads."""
    return f'<script type="application/json">{inert_json(spec)}</script>'


def inert_json(content: Any) -> str:  # noqa: ANN401 - whatever JSON takes
    r"""Write JSON that can stand inside a script element: nothing in it ends the element or opens another.

    Examples
    --------
    >>> print(inert_json({"run": "</script><!--"}))
    {"run":"\u003c/script\u003e\u003c!--"}
    """
    written = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return written.translate({ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"})


def _digest(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
