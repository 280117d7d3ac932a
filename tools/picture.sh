#!/bin/sh
# Takes the latency and bandwidth figures out of a report, as one picture that needs nothing but itself.
#   picture.sh results/DATE-TIME/report.html docs/pictures/ring.svg
set -eu
[ $# -eq 2 ] || { echo "usage: picture.sh REPORT.html PICTURE.svg" >&2; exit 2; }
here=$(dirname "$0")

{
    echo '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-12 -10 1054 956" role="img" aria-label="Time of one hop, and bandwidth">'
    # The page's own colours; a picture has no page to be read against, so it brings its paper.
    echo '<style>'
    sed -e '/^@media (prefers/,/^}/d' -e 's/^:root {/:root { font-family: system-ui, "Segoe UI", sans-serif;/' \
        -e '/^\*/d' -e '/^svg {/d' "$here/../lab/src/report/style.css" |
        grep -E '^ *--|^:root|^}|^svg |^\.(grid|axis|one|line|leader|dash1|s-)' 
    echo '</style><rect x="-12" y="-10" width="1054" height="956" fill="#fcfcfa"/>'
    # The figures: the first two drawings of the page, one under the other.
    tr -d '\n' <"$1" | sed 's/<svg /\n<svg /g; s/<\/svg>/<\/svg>\n/g' | grep '^<svg ' | head -n 2 |
        awk '{ sub(/<svg /, "<svg x=\"0\" y=\"" (NR - 1) * 480 "\" width=\"1030\" height=\"454\" "); print }'
    echo '</svg>'
} >"$2"
