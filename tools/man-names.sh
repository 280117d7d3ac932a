#!/bin/sh
# Makes the pages of man/names.txt in the folder DIR: each name of a page is a page that refers to it.
set -eu

[ $# -eq 1 ] || { echo "usage: man-names.sh DIR" >&2; exit 2; }
sed '/^#/d' "$(dirname "$0")/../man/names.txt" | while read -r page names; do
    for name in $names; do printf '.so man3/%s.3\n' "$page" >"$1/$name.3"; done
done
