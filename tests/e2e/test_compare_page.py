#!/usr/bin/env python3
"""The page of berth compare in a real browser: no error, no request, every plot has marks in sight, no
text is cut off, on a wide screen and on a phone, in light and dark. Skipped (77) without chromium."""
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BERTH = os.environ["BERTH"]
SOURCE = pathlib.Path(os.environ.get("BERTH_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

# Looks at the page from inside, when it has been laid out, and tells the page around it.
PROBE = """<script>
const out = {errors: [], plots: [], background: getComputedStyle(document.body).backgroundColor,
             wide: document.documentElement.scrollWidth - innerWidth,
             requests: performance.getEntriesByType('resource').map(e => e.name)};
const box = e => e.getBoundingClientRect();
for (const svg of document.querySelectorAll('figure svg')) {
  const frame = box(svg);
  const inside = e => { const b = box(e); return b.width + b.height > 0 && b.left >= frame.left - 1 &&
    b.right <= frame.right + 1 && b.top >= frame.top - 1 && b.bottom <= frame.bottom + 1; };
  const texts = [...svg.querySelectorAll('text')];
  const overlapping = [];
  for (let i = 0; i < texts.length; ++i) for (let j = 0; j < i; ++j) {
    const a = box(texts[i]), b = box(texts[j]);
    if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3)
      overlapping.push(texts[i].textContent + ' / ' + texts[j].textContent);
  }
  out.plots.push({title: svg.getAttribute('aria-label'), marks:
    [...svg.querySelectorAll('path.l,circle')].filter(inside).length,
    named: [...svg.querySelectorAll('title')].length, overlapping,
    cut: texts.filter(t => !inside(t)).map(t => t.textContent), height: frame.height,
    font: frame.width / svg.viewBox.baseVal.width * 12});
}
addEventListener('load', () => parent.postMessage(JSON.stringify(out), '*'));
</script></body>"""
FRAME = """<!DOCTYPE html><body style="margin:0"><iframe src="probed.html" width="%d" height="4000"
style="border:0"></iframe><pre id="answer"></pre><script>addEventListener('message',
e => document.getElementById('answer').textContent = e.data)</script></body>"""
problems = []


def check(right, what):
    if not right:
        problems.append(what)


def look(folder, width, dark):
    """What the probe sees of the page at a width, and what the browser complains of."""
    page = (folder / "report.html").read_text(encoding="utf-8")
    (folder / "probed.html").write_text(page.replace("</body>", PROBE), encoding="utf-8")
    (folder / "frame.html").write_text(FRAME % width, encoding="utf-8")
    scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
    run = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=20000", *scheme,
         "--window-size=1400,1000", "--dump-dom", f"file://{folder}/frame.html"],
        capture_output=True, text=True, check=False, timeout=300)
    console = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
    answer = re.search(r'<pre id="answer">(.*?)</pre>', run.stdout, re.DOTALL)
    if not answer or not answer[1]:
        sys.exit(f"the browser gave no answer: {run.stderr[-2000:]}")
    return json.loads(html.unescape(answer[1])), console


def check_view(folder, width, dark, expected_plots):
    where = f"{width} px, {'dark' if dark else 'light'}"
    seen, console = look(folder, width, dark)
    check(not console, f"{where}: the browser complains: {console}")
    check(not seen["requests"], f"{where}: asks for {seen['requests']}")
    check(seen["wide"] <= 0, f"{where}: {seen['wide']} px wider than the screen")
    level = sum(map(int, re.findall(r"\d+", seen["background"])[:3])) / 3
    check((level < 80) == dark, f"{where}: background {seen['background']}")
    check(len(seen["plots"]) == expected_plots, f"{where}: {len(seen['plots'])} plots")
    for plot in seen["plots"]:
        title = f"{where}: {plot['title']}"
        check(plot["marks"] > 0, f"{title}: nothing is drawn")
        check(plot["named"] > 0, f"{title}: no hover titles")
        check(not plot["cut"], f"{title}: cut off: {plot['cut']}")
        check(not plot["overlapping"], f"{title}: texts overlap: {plot['overlapping']}")
        check(plot["font"] > 7.5, f"{title}: letters of {plot['font']:.1f} px")


def make_report(folder, *more):
    subprocess.run([BERTH, "trace", "generate", "--jobs", "2000", "--seed", "1", "--out",
                    folder / "trace.csv"], check=True)
    policies = re.search(r"some of (.*?);", re.sub(
        r"\s+", " ", subprocess.run([BERTH, "compare", "--help"], capture_output=True, text=True,
                                    check=True).stdout))[1].replace(" ", "")
    subprocess.run([BERTH, "compare", "--trace", folder / "trace.csv", "--cluster", "mlfs-real",
                    "--workload", "paper", "--set", "jobs=200", "--policies", policies, "--predict",
                    "noisy:0.5", "--report", folder, *more],
                   check=True, capture_output=True)
    return policies.split(",")


def check_words(folder, policies):
    """Without a browser: self-contained, definitions as in the docs, what was run."""
    page = (folder / "report.html").read_text(encoding="utf-8")
    check(not re.search(r"<script|<link|@import|url\((?!#)|(?:src|href)=", page), "not self-contained")
    documented = (SOURCE / "docs/metrics.md").read_text(encoding="utf-8")
    definitions = re.findall(r"<dt>[^<]*<code>(\w+)</code>, (\w+) is better</dt><dd>(.*?)</dd>", page)
    check(len(definitions) > 10, f"{len(definitions)} definitions")
    for name, better, definition in definitions:
        row = next((r for r in documented.splitlines() if re.match(rf"\| .*`{name}`.* \|", r)), "")
        check(html.unescape(definition) in row, f"{name} is defined otherwise in docs/metrics.md")
        check(f"| {better} |" in row, f"{name}: whether lower or higher is better")
    for word in [*policies, "berth compare --trace", "noisy:0.5", "offered load", "as published",
                 "all sharing"]:
        check(word in page, f"the page does not say: {word}")
    check(os.stat(folder / "report.html").st_mode & 0o777 == 0o600, "not its owner's alone")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        policies = make_report(folder, "--seeds", "3")
        check_words(folder, policies)
        if CHROMIUM and not problems:
            plots = (folder / "report.html").read_text(encoding="utf-8").count("<figure>")
            check(plots >= 10 + 6, f"{plots} plots")
            for width, dark in ((1200, False), (1200, True), (375, False)):
                check_view(folder, width, dark, plots)
            one = folder / "one"
            one.mkdir()
            make_report(one, "--sharing", "exclusive", "--seeds", "1")
            check_view(one, 1200, False,
                       (one / "report.html").read_text(encoding="utf-8").count("<figure>"))
    print("\n".join(problems) or "the page is as it should be")
    if problems:
        return 1
    if not CHROMIUM:
        print("chromium is not there: not looked at in a browser")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
